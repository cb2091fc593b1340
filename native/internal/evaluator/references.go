package evaluator

import (
	"github.com/open-policy-agent/opa/v1/ast"
)

// inventoryKey is the document that is replaced for each cluster; its content isn't known when a program is loaded.
const inventoryKey = "inventory"

// unknownReferences lists references under data that neither a rule nor the loaded data defines: a misspelled package or
// parameter. OPA compiles them, and they are undefined for every object.
func unknownReferences(compiler *ast.Compiler, data map[string]any) []Problem {
	var problems []Problem
	for _, path := range sortedKeys(compiler.Modules) {
		seen := map[string]bool{}
		visit := func(ref ast.Ref) bool {
			known := knownReference(compiler.RuleTree, data, ref)
			if known == len(ref) {
				return false
			}
			name := ref[:known+1].String()
			if seen[name] {
				return false
			}
			seen[name] = true
			problem := Problem{
				File:    path,
				Code:    "unknown_reference",
				Message: name + " is defined nowhere: no rule and no data has that name",
			}
			if at := ref[0].Location; at != nil {
				problem.Line, problem.Column = at.Row, max(at.Col, 1)
			}
			problems = append(problems, problem)
			return false
		}
		for _, rule := range compiler.Modules[path].Rules {
			ast.WalkRefs(rule, visit)
		}
	}
	return problems
}

// knownReference is the number of leading parts of a reference that lead somewhere; all of them when nothing can be said.
func knownReference(rules *ast.TreeNode, data map[string]any, ref ast.Ref) int {
	if len(ref) < 2 || !ref[0].Equal(ast.DefaultRootDocument) {
		return len(ref)
	}
	if ref[1].Equal(ast.StringTerm(inventoryKey)) {
		return len(ref)
	}
	node := rules.Child(ref[0].Value)
	var document any = data
	for place, part := range ref[1:] {
		name, ground := part.Value.(ast.String)
		if !ground {
			return len(ref)
		}
		if node != nil {
			node = node.Child(name)
		}
		fields, _ := document.(map[string]any)
		document = fields[string(name)]
		if node != nil && len(node.Values) > 0 {
			return len(ref) // a rule: what it holds is for its evaluation
		}
		if node == nil && document == nil {
			return place + 1
		}
	}
	return len(ref)
}
