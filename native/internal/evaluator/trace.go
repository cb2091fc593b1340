package evaluator

import (
	"context"
	"fmt"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/cover"
	"github.com/open-policy-agent/opa/v1/topdown"

	"fleetaudit.dev/child/serve"
)

// maxTraceBytes bounds what is shown of a trace.
const maxTraceBytes = 256 << 10

// TraceRequest asks how one rule came to its answer about one object.
type TraceRequest struct {
	Rule  string `json:"rule"`
	Input string `json:"input"` // JSON, as text
}

// TraceAnswer is the evaluation step by step, and the lines of the rule's files that were reached.
type TraceAnswer struct {
	Trace   string           `json:"trace"`
	Cut     bool             `json:"cut"`
	Covered map[string][]int `json:"covered"`
	Code    string           `json:"code"`
	Message string           `json:"message"`
}

func (v *view) trace(slot *serve.Slot, request TraceRequest) TraceAnswer {
	for _, rule := range v.rules {
		if rule.ID == request.Rule {
			return v.traceRule(slot, rule, request.Input)
		}
	}
	return TraceAnswer{Code: "unknown_rule", Message: fmt.Sprintf("rule %s is not loaded", request.Rule)}
}

func (v *view) traceRule(slot *serve.Slot, rule *ruleState, raw string) TraceAnswer {
	input, err := parseInput([]byte(raw))
	if err != nil {
		return TraceAnswer{Code: "bad_input", Message: err.Error()}
	}
	body, err := v.compile(question(0, rule.ref))
	if err != nil {
		return TraceAnswer{Code: "bad_answer", Message: oneLine(err.Error())}
	}
	steps, reached := topdown.NewBufferTracer(), cover.New()
	cancel := topdown.NewCancel()
	slot.Begin(v.limit, cancel.Cancel)
	err = topdown.NewQuery(body).
		WithCompiler(v.compiler).
		WithStore(v.store).
		WithTransaction(v.txn).
		WithInput(input).
		WithCancel(cancel).
		WithTime(v.now).
		WithQueryTracer(steps).
		WithQueryTracer(reached).
		Iter(context.Background(), func(topdown.QueryResult) error { return nil })
	stopped := slot.End()

	answer := TraceAnswer{Covered: v.coveredLines(rule.ref, reached)}
	switch {
	case err != nil && stopped != serve.NotStopped:
		answer.Code, answer.Message = "timeout", "stopped: the evaluation takes too long"
	case err != nil:
		failed := evaluationError(err)
		answer.Code, answer.Message = failed.code, failed.message
	}
	text := cappedText{limit: maxTraceBytes}
	topdown.PrettyTraceWithLocation(&text, *steps)
	answer.Trace, answer.Cut = strings.ToValidUTF8(text.String(), "\ufffd"), text.cut
	return answer
}

// coveredLines are the lines of the rule's package that were evaluated, by file.
func (v *view) coveredLines(ref ast.Ref, reached *cover.Cover) map[string][]int {
	own := map[string]*ast.Module{}
	for path, module := range v.compiler.Modules {
		if module.Package.Path.Equal(ref) {
			own[path] = module
		}
	}
	report := reached.Report(own)
	covered := map[string][]int{}
	for path, module := range own {
		covered[path] = []int{}
		for row := 1; row <= lastRow(module); row++ {
			if report.IsCovered(path, row) {
				covered[path] = append(covered[path], row)
			}
		}
	}
	return covered
}

func lastRow(module *ast.Module) int {
	last := 0
	ast.WalkNodes(module, func(node ast.Node) bool {
		if loc := node.Loc(); loc != nil {
			last = max(last, loc.Row)
		}
		return false
	})
	return last
}

// cappedText keeps the beginning of what is written to it.
type cappedText struct {
	strings.Builder
	limit int
	cut   bool
}

func (t *cappedText) Write(p []byte) (int, error) {
	if t.Len()+len(p) > t.limit {
		t.cut = true
		return len(p), nil
	}
	return t.Builder.Write(p)
}
