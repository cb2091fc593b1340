package evaluator

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/cover"
	"github.com/open-policy-agent/opa/v1/tester"

	"fleetaudit.dev/child/serve"
)

// odd are tests of every shape that OPA knows.
var odd = map[string]string{
	"policy.rego": "package p\n\nallow if input.x == 1\n\nlimit := data.settings.limit\n",
	"plain_test.rego": `package p_test

import data.p

test_true if p.allow with input as {"x": 1}

test_undefined if p.allow with input as {"x": 2}

test_false := false

test_text := "yes"

test_twice if true

test_twice if false

test_else := false if { false } else := true

todo_test_later if false

test_conflict := x if { some x in [1, 2] }

test_builtin if { not to_number("x") }

test_builtin_swallowed if { count([x | x := to_number("x")]) == 0 }

test_print if { print("seen", 1) }

nested.test_inner if true

nested.todo_test_inner if true

helper if true
`,
	"table_test.rego": `package table_test

test_table[note] if {
	some note, c in {"good": {"a": 1, "b": 1}, "bad": {"a": 1, "b": 2}}
	c.a == c.b
}

test_all_good[note] if {
	some note in ["x", "y"]
}

test_nested[note][n] if {
	some note in ["x", "y"]
	some n in [1, 2]
	n < 2
}

test_empty[note] if {
	some note in []
}

test_values[note] := value if {
	some note, value in {"t": true, "f": false, "n": null, "s": "x"}
}
`,
	"old_test.rego": "package old\n\ntest_v0 { 1 == 1 }\n",
}

func suiteOf(t *testing.T, modules map[string]string, data string) (*suite, SuiteReport) {
	t.Helper()
	s, report := loadSuite(SuiteRequest{Modules: modules, Data: json.RawMessage(data), LimitMS: 60_000})
	if s == nil {
		t.Fatal(report.Problems)
	}
	return s, report
}

// verdict says what OPA's runner says, in one word.
func verdict(a TestAnswer) string {
	failed := slices.ContainsFunc(a.Cases, func(c Case) bool { return c.Fail })
	switch {
	case a.Code != "":
		return "error"
	case a.Cases != nil && !failed, a.Cases == nil && a.Value == valueTrue:
		return "pass"
	default:
		return "fail"
	}
}

func leaves(results tester.SubResultMap) []string {
	var found []string
	for path, result := range results.Iter {
		if len(result.SubResults) == 0 {
			found = append(found, fmt.Sprint(path, result.Fail))
		}
	}
	return found
}

func TestVerdictsAreThoseOfOPAsRunner(t *testing.T) {
	modules := map[string]*ast.Module{}
	for _, m := range mustParse(t, odd) {
		modules[m.path] = m.module
	}
	results, err := tester.NewRunner().SetModules(modules).RunTests(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for r := range results {
		word := "pass"
		switch {
		case r.Skip:
			word = "skip"
		case r.Error != nil:
			word = "error"
		case r.Fail:
			word = "fail"
		}
		// Two tests of one name get their numbers in any order there.
		name, _, _ := strings.Cut(r.Name, "#")
		want[r.Package+"."+r.Name] = fmt.Sprint(word, leaves(r.SubResults), strings.TrimSpace(string(r.Output)))
		if name == "test_twice" {
			delete(want, r.Package+"."+r.Name)
		}
	}
	s, report := suiteOf(t, odd, "{}")
	if len(report.Problems) > 0 {
		t.Fatal(report.Problems)
	}
	got := map[string]string{}
	twice := map[string]string{}
	for _, test := range report.Tests {
		word, cases, printed := "skip", []string(nil), ""
		if !test.Todo {
			answer := s.run(&serve.Slot{}, TestRef{test.Package, test.Name}, nil)
			word, printed = verdict(answer), strings.TrimSpace(answer.Printed)
			for _, c := range answer.Cases {
				cases = append(cases, fmt.Sprint(c.Path, c.Fail))
			}
		}
		if strings.HasPrefix(test.Name, "test_twice") {
			twice[test.Name] = word
			continue
		}
		got["data."+test.Package+"."+test.Name] = fmt.Sprint(word, cases, printed)
	}
	if !maps.Equal(got, want) {
		t.Errorf("got\n%v\nwant\n%v", got, want)
	}
	if !maps.Equal(twice, map[string]string{"test_twice": "pass", "test_twice#01": "fail"}) {
		t.Error(twice)
	}
}

func mustParse(t *testing.T, sources map[string]string) []parsed {
	t.Helper()
	modules, problems := parseModules(sources, nil)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return modules
}

func TestBuiltinErrorsAreTold(t *testing.T) {
	s, _ := suiteOf(t, odd, "{}")
	answer := s.run(&serve.Slot{}, TestRef{"p_test", "test_builtin_swallowed"}, nil)
	if answer.Value != valueTrue || len(answer.BuiltinErrors) != 1 || !strings.Contains(answer.BuiltinErrors[0], "plain_test.rego") {
		t.Errorf("%+v", answer)
	}
}

func TestWhatDoesNotCompileCostsOnlyWhatNeedsIt(t *testing.T) {
	fine := map[string]string{
		"far.rego":        "package far\n\nok := true\n",
		"far_test.rego":   "package far_test\n\ntest_far if data.far.ok\n",
		"use.rego":        "package use\n\nimport data.lib.broken as b\n\nok := b.x\n",
		"use_test.rego":   "package use_test\n\ntest_use if not data.use.ok\n",
		"whole_test.rego": "package whole_test\n\ntest_whole if count(data.lib) > 0\n",
		"any_test.rego":   "package any_test\n\ntest_any if { some x; data[x].broken }\n",
	}
	for name, broken := range map[string]string{
		"parse":   "package lib.broken\n\nx := )\n",
		"type":    "package lib.broken\n\nx := 1 + \"a\"\n",
		"unsafe":  "package lib.broken\n\nx if y == 1\n",
		"unknown": "package lib.broken\n\nx := nothing(1)\n",
	} {
		t.Run(name, func(t *testing.T) {
			modules := maps.Clone(fine)
			modules["broken.rego"] = broken
			s, report := suiteOf(t, modules, "{}")
			if len(report.Problems) == 0 {
				t.Fatal("no problem")
			}
			for _, problem := range report.Problems {
				if problem.File != "broken.rego" || problem.Line != 3 {
					t.Errorf("%+v", problem)
				}
			}
			for _, test := range report.Tests {
				runs := test.Name == "test_far"
				if (test.Lost == "") != runs || (!runs && test.Lost != "broken.rego") {
					t.Errorf("%+v", test)
				}
			}
			if answer := s.run(&serve.Slot{}, TestRef{"far_test", "test_far"}, nil); answer.Value != valueTrue {
				t.Errorf("%+v", answer)
			}
		})
	}
}

func TestReferencesToNothingAreNamed(t *testing.T) {
	_, report := suiteOf(t, map[string]string{
		"p.rego": "package p\n\ndeny contains 1\n\nobject.part := 1\n",
		"p_test.rego": `package p_test

import data.p

test_known if { p.deny; data.given.x; data.inventory.a.b; p.object.part; p.object }

test_misspelt if not p.denny

test_nowhere if not data.elsewhere.deny

test_mocked if not data.elsewhere.deny with data.elsewhere as {}

test_mocked_below if not data.elsewhere with data.elsewhere.deny as 1
`,
	}, `{"given": {"y": 1, "x": 2}}`)
	got := map[string][]string{}
	for _, test := range report.Tests {
		got[test.Name] = test.Unknown
	}
	want := map[string][]string{
		"test_known":        {},
		"test_misspelt":     {"data.p.denny"},
		"test_nowhere":      {"data.elsewhere"},
		"test_mocked":       {},
		"test_mocked_below": {},
	}
	if !maps.EqualFunc(got, want, slices.Equal) {
		t.Errorf("%v", got)
	}
}

func TestNoSuiteReachesOutside(t *testing.T) {
	s, report := suiteOf(t, map[string]string{"a_test.rego": `package a

test_send if http.send({"method": "get", "url": "http://127.0.0.1:1/"})

test_lookup if net.lookup_ip_addr("localhost")

test_runtime if opa.runtime() == {}

test_mocked if http.send({"method": "get", "url": "http://x/"}).a == 1 with http.send as {"a": 1}
`}, "{}")
	for _, test := range report.Tests {
		answer := s.run(&serve.Slot{}, TestRef{test.Package, test.Name}, nil)
		refused := test.Name == "test_send" || test.Name == "test_lookup"
		if (answer.Value == valueTrue) == refused {
			t.Errorf("%s: %+v", test.Name, answer)
		}
		if refused && (len(answer.BuiltinErrors) != 1 || !strings.Contains(answer.BuiltinErrors[0], "disallowed host")) {
			t.Errorf("%s: %v", test.Name, answer.BuiltinErrors)
		}
	}
}

func TestPrintedTextIsCapped(t *testing.T) {
	s, _ := suiteOf(t, map[string]string{"a_test.rego": `package a

test_talk if { every n in numbers.range(1, 100000) { print("a line of some length", n) } }
`}, "{}")
	answer := s.run(&serve.Slot{}, TestRef{"a", "test_talk"}, nil)
	if answer.Value != valueTrue || !answer.PrintedCut || len(answer.Printed) > maxPrinted {
		t.Errorf("%s %v %d", answer.Value, answer.PrintedCut, len(answer.Printed))
	}
}

func TestCoverageNamesLines(t *testing.T) {
	s, _ := suiteOf(t, map[string]string{
		"p.rego":      "package p\n\na if input.x\n\nb if input.y\n",
		"p_test.rego": "package p_test\n\ntest_a if data.p.a with input as {\"x\": 1}\n",
	}, "{}")
	reached := cover.New()
	s.run(&serve.Slot{}, TestRef{"p_test", "test_a"}, reached)
	lines := s.linesOf(reached)["p.rego"]
	if !slices.Contains(lines.Covered, 3) || !slices.Contains(lines.NotCovered, 5) || slices.Contains(lines.NotCovered, 3) {
		t.Errorf("%+v", lines)
	}
}
