package evaluator

import (
	"fmt"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/tester"
)

// testName finds the part of a rule's name that makes it a test, as OPA does: the first one with the prefix. The
// reference ends with it; what follows are the names of cases. It is nil for rules that are no tests.
func testName(head *ast.Head) (string, ast.Ref) {
	prefix := head.Ref().GroundPrefix()
	for i, term := range prefix {
		var name string
		switch v := term.Value.(type) {
		case ast.Var:
			name = string(v)
		case ast.String:
			name = string(v)
		}
		if strings.HasPrefix(name, tester.TestPrefix) || isTodo(name) {
			return name, prefix[:i+1]
		}
	}
	return "", nil
}

func isTodo(name string) bool { return strings.HasPrefix(name, tester.SkipTestPrefix) }

// numberDuplicates gives tests of one name numbers, in the order of files and lines. OPA does it too, in an order that
// changes from run to run.
func numberDuplicates(modules []parsed) {
	count := map[TestRef]int{}
	for _, m := range modules {
		for _, rule := range m.module.Rules {
			name, ref := testName(rule.Head)
			if ref == nil || isTodo(name) {
				continue
			}
			key := TestRef{packageName(m.module.Package), ref.String()}
			if seen := count[key]; seen > 0 {
				rest := rule.Head.Ref()[len(ref):]
				numbered := ref.Copy()
				renamed := fmt.Sprintf("%s#%02d", name, seen)
				if last := len(numbered) - 1; last == 0 {
					numbered[0] = ast.VarTerm(renamed)
				} else {
					numbered[last] = ast.StringTerm(renamed)
				}
				rule.Head.SetRef(append(numbered, rest...))
			}
			count[key]++
		}
	}
}
