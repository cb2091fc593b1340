package evaluator

import (
	"github.com/open-policy-agent/opa/v1/ast"
)

// InspectRequest asks what packages there are.
type InspectRequest struct {
	Modules map[string]string `json:"modules"`
}

// Package is one package clause in one file.
type Package struct {
	Package     string           `json:"package"`
	File        string           `json:"file"`
	Line        int              `json:"line"`
	Dialect     string           `json:"dialect"`
	Annotations *ast.Annotations `json:"annotations"`
	Rules       []string         `json:"rules"`
}

// Inspection is the answer to an InspectRequest.
type Inspection struct {
	Packages []Package `json:"packages"`
	Problems []Problem `json:"problems"`
}

// inspect parses modules without compiling them, and keeps what it parsed in `known`.
func inspect(request InspectRequest, known parsedSources) Inspection {
	modules, problems := parseModules(request.Modules, known)
	inspection := Inspection{Packages: []Package{}, Problems: nonNil(problems)}
	for _, m := range modules {
		known[sourceKey{m.path, request.Modules[m.path]}] = m
		entry := Package{
			Package: packageName(m.module.Package),
			File:    m.path,
			Dialect: m.dialect,
			Rules:   ruleNames(m.module),
		}
		if loc := m.module.Package.Loc(); loc != nil {
			entry.Line = loc.Row
		}
		for _, annotation := range m.module.Annotations {
			if annotation.Scope == "package" {
				entry.Annotations = annotation
			}
		}
		inspection.Packages = append(inspection.Packages, entry)
	}
	return inspection
}

func ruleNames(module *ast.Module) []string {
	seen := map[string]string{}
	for _, rule := range module.Rules {
		name := rule.Head.Ref().String()
		seen[name] = name
	}
	return sortedKeys(seen)
}

func nonNil(problems []Problem) []Problem {
	if problems == nil {
		return []Problem{}
	}
	return problems
}
