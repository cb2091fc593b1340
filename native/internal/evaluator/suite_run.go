package evaluator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/cover"
	"github.com/open-policy-agent/opa/v1/metrics"
	"github.com/open-policy-agent/opa/v1/tester"
	"github.com/open-policy-agent/opa/v1/topdown"

	"fleetaudit.dev/child/serve"
)

const (
	maxPrinted       = 16 << 10 // bytes of a test's print output
	maxBuiltinErrors = 5        // shown of a test
)

// TestRef names a test of the loaded suite.
type TestRef struct {
	Package string `json:"package"`
	Name    string `json:"name"`
}

// TestsRequest asks for the verdicts of some tests.
type TestsRequest struct {
	Tests []TestRef `json:"tests"`
}

// TestsAnswer are verdicts in the order of the request, and the lines that the tests reached together.
type TestsAnswer struct {
	Tests    []TestAnswer         `json:"tests"`
	Coverage map[string]FileLines `json:"coverage"`
}

// FileLines are lines of one file.
type FileLines struct {
	Covered    []int `json:"covered"`
	NotCovered []int `json:"not_covered"`
}

// Values of a test.
const (
	valueTrue      = "true"
	valueFalse     = "false"
	valueUndefined = "undefined"
	valueOther     = "other"
)

// TestAnswer is what came of one test.
type TestAnswer struct {
	Value string `json:"value"` // one of the values above, empty when Code says why there is none
	Cases []Case `json:"cases"` // of a test that is a table
	// Code and Message say why there is no value.
	Code    string `json:"code"`
	Message string `json:"message"`
	// BuiltinErrors failed on the way, which made what asked for them undefined.
	BuiltinErrors []string `json:"builtin_errors"`
	Printed       string   `json:"printed"`
	PrintedCut    bool     `json:"printed_cut"`
	NS            int64    `json:"ns"`
}

// run evaluates one test. A test that was stopped for memory is tried once more while nothing else runs.
func (s *suite) run(slot *serve.Slot, test TestRef, reached *cover.Cover) TestAnswer {
	rule := s.rules[test]
	if rule == nil {
		return TestAnswer{Code: "unknown_test", Message: "there is no such test"}
	}
	answer := s.evaluate(slot, rule, reached, false)
	if answer.Code == "memory" {
		answer = s.evaluate(slot, rule, reached, true)
	}
	return answer
}

func (s *suite) evaluate(slot *serve.Slot, rule *ast.Rule, reached *cover.Cover, exclusive bool) (answer TestAnswer) {
	if exclusive {
		hogs.Lock()
		defer hogs.Unlock()
	} else {
		hogs.RLock()
		defer hogs.RUnlock()
	}
	_, ref := testName(rule.Head)
	body, err := s.compiler.QueryCompiler().Compile(ast.NewBody(
		ast.Equality.Expr(ast.VarTerm("value"), ast.NewTerm(rule.Module.Package.Path.Extend(ref)))))
	if err != nil {
		return TestAnswer{Code: "rego_compile_error", Message: oneLine(err.Error())}
	}
	printed := &cappedText{limit: maxPrinted}
	var failed []topdown.Error
	cancel := topdown.NewCancel()
	cases := tester.NewTestQueryTracer()
	query := topdown.NewQuery(body).
		WithCompiler(s.compiler).
		WithStore(s.store).
		WithTransaction(s.txn).
		WithCancel(cancel).
		WithMetrics(metrics.NoOp()).
		WithPrintHook(topdown.NewPrintHook(printed)).
		WithBuiltinErrorList(&failed)
	isTable := rule.Head.DocKind() == ast.PartialObjectDoc
	if isTable {
		query = query.WithQueryTracer(cases)
	}
	if reached != nil {
		query = query.WithQueryTracer(reached)
	}
	answer = TestAnswer{Value: valueUndefined}
	started := time.Now()
	slot.Begin(s.limit, cancel.Cancel)
	err = guardedIter(query, func(result topdown.QueryResult) error {
		answer.Value = valueOf(result["value"].Value)
		if isTable {
			answer.Cases = casesOf(result["value"].Value, cases.Events())
		}
		return nil
	})
	stopped := slot.End()
	answer.NS = time.Since(started).Nanoseconds()
	answer.Printed, answer.PrintedCut = printed.String(), printed.cut
	for i := range failed[:min(len(failed), maxBuiltinErrors)] {
		answer.BuiltinErrors = append(answer.BuiltinErrors, told(&failed[i]))
	}
	if err != nil {
		answer.Value, answer.Cases = "", nil
		answer.Code, answer.Message = refusalOf(err, stopped, s.limit)
	} else if isTable && answer.Cases == nil {
		answer.Cases = casesOf(nil, cases.Events())
	}
	return answer
}

func guardedIter(query *topdown.Query, each func(topdown.QueryResult) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the engine failed: %v", p)
		}
	}()
	return query.Iter(context.Background(), each)
}

func valueOf(value ast.Value) string {
	switch v := value.(type) {
	case ast.Boolean:
		if v {
			return valueTrue
		}
		return valueFalse
	default:
		return valueOther
	}
}

// refusalOf is why a test has no value.
func refusalOf(err error, stopped int, limit time.Duration) (code, message string) {
	switch stopped {
	case serve.StoppedByTime:
		return "timeout", fmt.Sprintf("stopped after %v", limit)
	case serve.StoppedByMemory:
		return "memory", "stopped: the evaluation needs too much memory"
	}
	var known *topdown.Error
	if errors.As(err, &known) {
		return known.Code, told(known)
	}
	return "eval_error", oneLine(err.Error())
}

func told(err *topdown.Error) string {
	message := oneLine(err.Message)
	if err.Location != nil {
		return fmt.Sprintf("%s:%d: %s", err.Location.File, err.Location.Row, message)
	}
	return message
}

// linesOf turns what was reached into lines, by file.
func (s *suite) linesOf(reached *cover.Cover) map[string]FileLines {
	lines := map[string]FileLines{}
	for file, report := range reached.Report(s.compiler.Modules).Files {
		found := FileLines{Covered: []int{}, NotCovered: []int{}}
		for _, part := range report.Covered {
			found.Covered = appendRows(found.Covered, part)
		}
		for _, part := range report.NotCovered {
			found.NotCovered = appendRows(found.NotCovered, part)
		}
		lines[file] = found
	}
	return lines
}

func appendRows(rows []int, part cover.Range) []int {
	for row := part.Start.Row; row <= part.End.Row; row++ {
		rows = append(rows, row)
	}
	return rows
}
