package evaluator

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/metrics"
	"github.com/open-policy-agent/opa/v1/topdown"

	"fleetaudit.dev/child/serve"
)

// stopError is an evaluation that ran into a limit.
type stopError struct{ reason int }

func (e stopError) Error() string { return "stopped" }

// hogs keeps everybody else waiting while an object that was stopped for memory is tried again alone.
var hogs sync.RWMutex

const (
	jointShare   = 0.5                   // of an object's time, for the joint query
	smallestTime = 50 * time.Millisecond // any single rule gets this much
)

// ask gets one answer for every rule of the object's class.
func (v *view) ask(slot *serve.Slot, kind string, raw []byte) []answer {
	c, err := v.classOf(kind)
	if err != nil {
		return v.allFailed(kind, "engine_error", err.Error())
	}
	if len(c.rules) == 0 {
		return nil
	}
	input, err := parseInput(raw)
	if err != nil {
		return v.allFailed(kind, "bad_input", err.Error())
	}
	started := time.Now()
	answers := make([]answer, len(c.rules))
	joined := false
	if len(c.jointly) > 0 {
		joined = v.jointly(slot, c, input, answers)
	}
	if joined && len(c.jointly) == len(c.rules) {
		return answers
	}
	asked := 0
	for place, rule := range c.rules {
		if joined && asked < len(c.jointly) && c.jointly[asked] == place {
			asked++
			continue
		}
		if reason := c.broken[place]; reason != "" {
			answers[place] = errorAnswer("bad_answer", reason)
			continue
		}
		left := v.limit - time.Since(started)
		answers[place] = v.alone(slot, rule, place, c.singles[place], input, max(left/2, smallestTime))
	}
	return answers
}

func (v *view) allFailed(kind, code, message string) []answer {
	var answers []answer
	for _, rule := range v.rules {
		if len(rule.Kinds) == 0 || contains(rule.Kinds, kind) {
			answers = append(answers, errorAnswer(code, message))
		}
	}
	return answers
}

func contains(list []string, item string) bool {
	for _, one := range list {
		if one == item {
			return true
		}
	}
	return false
}

// jointly asks the joint query; false when any rule spoiled it.
func (v *view) jointly(slot *serve.Slot, c *class, input *ast.Term, answers []answer) bool {
	hogs.RLock()
	defer hogs.RUnlock()
	done := false
	err := v.run(slot, c.joint, input, time.Duration(float64(v.limit)*jointShare), func(result topdown.QueryResult) {
		for _, place := range c.jointly {
			answers[place] = judge(c.rules[place], result[appliesVar(place)], result[violationsVar(place)])
		}
		done = true
	})
	return err == nil && done
}

// alone asks one rule on its own, and remembers how it behaved.
func (v *view) alone(
	slot *serve.Slot, rule *ruleState, place int, body ast.Body, input *ast.Term, limit time.Duration,
) answer {
	if rule.stops.Load() >= suspendedAfter {
		return errorAnswer("timeout", fmt.Sprintf("not asked any more: it ran into a limit on %d objects", suspendedAfter))
	}
	found := errorAnswer("undefined", "no answer")
	err := v.single(slot, rule, place, body, input, limit, &found, false)
	var stopped stopError
	if errors.As(err, &stopped) && stopped.reason == serve.StoppedByMemory {
		err = v.single(slot, rule, place, body, input, limit, &found, true)
	}
	if err == nil {
		return found
	}
	if errors.As(err, &stopped) {
		if rule.stops.Add(1) == 1 {
			v.epoch.Add(1)
		}
		if stopped.reason == serve.StoppedByMemory {
			return errorAnswer("memory", "stopped: the evaluation needs too much memory")
		}
		return errorAnswer("timeout", "stopped: the evaluation takes too long")
	}
	if rule.errors.Add(1) == aloneAfter {
		v.epoch.Add(1)
	}
	return evaluationError(err)
}

func (v *view) single(
	slot *serve.Slot, rule *ruleState, place int, body ast.Body, input *ast.Term, limit time.Duration, into *answer, exclusive bool,
) error {
	if exclusive {
		hogs.Lock()
		defer hogs.Unlock()
	} else {
		hogs.RLock()
		defer hogs.RUnlock()
	}
	return v.run(slot, body, input, limit, func(result topdown.QueryResult) {
		*into = judge(rule, result[appliesVar(place)], result[violationsVar(place)])
	})
}

// run evaluates a compiled query under a time limit.
func (v *view) run(
	slot *serve.Slot, body ast.Body, input *ast.Term, limit time.Duration, result func(topdown.QueryResult),
) (err error) {
	cancel := topdown.NewCancel()
	slot.Begin(limit, cancel.Cancel)
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the engine failed: %v", p)
		}
		if stopped := slot.End(); stopped != serve.NotStopped && err != nil {
			err = stopError{stopped}
		}
	}()
	return topdown.NewQuery(body).
		WithCompiler(v.compiler).
		WithStore(v.store).
		WithTransaction(v.txn).
		WithInput(input).
		WithCancel(cancel).
		WithTime(v.now).
		WithMetrics(metrics.NoOp()).
		WithStrictBuiltinErrors(v.strict).
		Iter(context.Background(), func(r topdown.QueryResult) error {
			result(r)
			return nil
		})
}

func evaluationError(err error) answer {
	var known *topdown.Error
	if errors.As(err, &known) {
		message := oneLine(known.Message)
		if known.Location != nil {
			message = fmt.Sprintf("%s:%d: %s", known.Location.File, known.Location.Row, message)
		}
		return errorAnswer(known.Code, message)
	}
	return errorAnswer("eval_error", oneLine(err.Error()))
}

// oneLine folds OPA's longer explanations.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
