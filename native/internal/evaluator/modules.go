// Package evaluator loads Rego modules and asks their rules about objects.
package evaluator

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Problem is one thing wrong with authored Rego, with its place.
type Problem struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Dialects of Rego.
const (
	dialectV0 = "v0"
	dialectV1 = "v1"
)

// parsed is a module and the dialect it was found to be written in.
type parsed struct {
	path    string
	module  *ast.Module
	dialect string
}

// sourceKey is a file and its text.
type sourceKey struct{ path, text string }

// parsedSources remembers modules between the inspection of a program and its loading, so that each is parsed once.
type parsedSources map[sourceKey]parsed

// parseModules parses every source, first as Rego v1, then as v0, and reports all that is wrong with those that are
// neither. The order is that of the paths. Modules that `known` holds are taken from there; it may be nil.
func parseModules(sources map[string]string, known parsedSources) ([]parsed, []Problem) {
	paths := sortedKeys(sources)
	found := make([]parsed, len(paths))
	errs := make([]error, len(paths))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(paths)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(paths); i = int(next.Add(1)) - 1 {
				path := paths[i]
				if m, ok := known[sourceKey{path, sources[path]}]; ok {
					found[i] = m
				} else {
					found[i], errs[i] = parseSource(path, sources[path])
				}
			}
		})
	}
	workers.Wait()
	var modules []parsed
	var problems []Problem
	for i, path := range paths {
		if errs[i] != nil {
			problems = append(problems, problemsOf(path, errs[i])...)
			continue
		}
		modules = append(modules, found[i])
	}
	return modules, problems
}

func parseSource(path, source string) (parsed, error) {
	module, err := parseAs(path, source, ast.RegoV1)
	if err == nil {
		return parsed{path, module, dialectV1}, nil
	}
	if module, v0err := parseAs(path, source, ast.RegoV0); v0err == nil && module != nil {
		return parsed{path, module, dialectV0}, nil
	}
	return parsed{}, err
}

// Listing the builtins takes longer than parsing a small module.
var capabilitiesOf = map[ast.RegoVersion]func() *ast.Capabilities{
	ast.RegoV0: sync.OnceValue(func() *ast.Capabilities { return capabilitiesFor(ast.RegoV0) }),
	ast.RegoV1: sync.OnceValue(func() *ast.Capabilities { return capabilitiesFor(ast.RegoV1) }),
}

func capabilitiesFor(version ast.RegoVersion) *ast.Capabilities {
	return ast.CapabilitiesForThisVersion(ast.CapabilitiesRegoVersion(version))
}

func parseAs(path, source string, version ast.RegoVersion) (module *ast.Module, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the parser failed: %v", p)
		}
	}()
	module, err = ast.ParseModuleWithOpts(path, source, ast.ParserOptions{
		ProcessAnnotation: true,
		RegoVersion:       version,
		Capabilities:      capabilitiesOf[version](),
	})
	if err == nil && module == nil {
		err = errors.New("no package: the file is empty")
	}
	return module, err
}

// problemsOf flattens OPA's errors.
func problemsOf(path string, err error) []Problem {
	var many ast.Errors
	if errors.As(err, &many) {
		problems := make([]Problem, 0, len(many))
		for _, one := range many {
			problems = append(problems, problemOf(path, one))
		}
		return problems
	}
	var one *ast.Error
	if errors.As(err, &one) {
		return []Problem{problemOf(path, one)}
	}
	return []Problem{{File: path, Code: "rego_parse_error", Message: err.Error()}}
}

func problemOf(path string, err *ast.Error) Problem {
	problem := Problem{File: path, Code: err.Code, Message: err.Message}
	if err.Location != nil {
		if err.Location.File != "" {
			problem.File = err.Location.File
		}
		problem.Line, problem.Column = err.Location.Row, max(err.Location.Col, 1) // 0 at the end of a file
	}
	return problem
}

// packageName is a package's path without the leading data, as people write it.
func packageName(p *ast.Package) string {
	return strings.TrimPrefix(p.Path.String(), "data.")
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
