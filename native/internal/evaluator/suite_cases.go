package evaluator

import (
	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/tester"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// Case is one row of a test that is a table: test_x[name] if { ... }.
type Case struct {
	Path []string `json:"path"`
	Fail bool     `json:"fail"`
}

// casesOf reads a table's verdicts as OPA's runner does: what the rule lists, and as failed what it began and does not
// list.
func casesOf(value ast.Value, began []*topdown.Event) []Case {
	results := tester.SubResultMap{}
	if value != nil {
		if plain, err := ast.JSON(value); err == nil {
			results = listed(plain)
		}
	}
	for _, event := range began {
		expr, ok := event.Node.(*ast.Expr)
		if !ok {
			continue
		}
		if path, ok := expr.Operand(0).Value.(*ast.Array); ok {
			results.Update(*path, nil)
		}
	}
	cases := []Case{}
	for path, result := range results.Iter {
		if len(result.SubResults) == 0 {
			cases = append(cases, Case{Path: path, Fail: result.Fail})
		}
	}
	return cases
}

func listed(value any) tester.SubResultMap {
	results := tester.SubResultMap{}
	entries, _ := value.(map[string]any)
	for name, entry := range entries {
		result := &tester.SubResult{Name: name}
		switch v := entry.(type) {
		case nil:
		case bool:
			result.Fail = !v
		case map[string]any:
			result.SubResults = listed(v)
		default:
			result.Fail = true
		}
		results[name] = result
	}
	return results
}
