package judge

import (
	"fmt"
	"sync"
	"time"

	engineapi "github.com/kyverno/kyverno/pkg/engine/api"
	reportutils "github.com/kyverno/kyverno/pkg/utils/report"

	"fleetaudit.dev/child/serve"
	"fleetaudit.dev/kyverno-batch/internal/policies"
)

// row is one result, as the CLI would report it.
type row struct {
	policy, rule, result, message, exceptions string
}

// loss is a pair without an answer.
type loss struct {
	place        int // of the policy in the batch
	code, reason string
}

// Why there is no answer.
const (
	lostToTime  = "timed_out"
	lostToPanic = "engine_panic"
	lostToInput = "unreadable_object"
	lostToError = "engine_error"
	givenUp     = "given_up"
)

// answer is all about one object.
type answer struct {
	uid    string
	rows   []row
	losses []loss
}

// judge asks all sets about one object. A pair over its time limit is left alone and the rest is asked without it.
func (h *Handler) judge(slot *serve.Slot, raw []byte, labels policies.Labels, sets []namedSet) answer {
	var found answer
	for next := 0; ; {
		subject, err := policies.NewSubject(raw, labels)
		if err != nil {
			for place := next; place < len(sets); place++ {
				found.losses = append(found.losses, loss{place, lostToInput, err.Error()})
			}
			return found
		}
		found.uid = subject.UID()
		pass := h.start(slot, subject, sets, next)
		overdue := pass.wait(h.limit)
		found.rows = append(found.rows, pass.rows...)
		found.losses = append(found.losses, pass.losses...)
		if overdue < 0 {
			return found
		}
		reason := fmt.Sprintf("no answer in %s", h.limit)
		found.losses = append(found.losses, loss{overdue, lostToTime, reason})
		h.watch.strike(sets[overdue].id)
		next = overdue + 1
	}
}

// pass is one goroutine's way through the policies of one object.
type pass struct {
	slot    *serve.Slot // tells the heartbeat how old the pair is
	mu      sync.Mutex
	began   time.Time // of the pair under way
	place   int
	left    bool // nobody waits any more
	rows    []row
	losses  []loss
	done    chan struct{}
	leaving func() func()
}

// start asks the policies from a place on.
func (h *Handler) start(slot *serve.Slot, subject *policies.Subject, sets []namedSet, from int) *pass {
	p := &pass{slot: slot, done: make(chan struct{}), began: time.Now(), place: from, leaving: h.watch.leave}
	go func() {
		defer close(p.done)
		for place := from; place < len(sets); place++ {
			if !p.enter(place) {
				return
			}
			if h.watch.out(sets[place].id) {
				p.keep(nil, &loss{place, givenUp, fmt.Sprintf("it ran into the time limit on %d objects", strikesOut)})
				continue
			}
			rows, lost := one(subject, sets[place].set, place)
			p.keep(rows, lost)
		}
	}()
	return p
}

// one judges a pair; a panic is its answer.
func one(subject *policies.Subject, set *policies.Set, place int) (rows []row, lost *loss) {
	defer func() {
		if p := recover(); p != nil {
			rows, lost = nil, &loss{place, lostToPanic, fmt.Sprintf("panic: %v", p)}
		}
	}()
	err := set.Judge(subject, func(response engineapi.EngineResponse) {
		for _, rule := range response.PolicyResponse.Rules {
			rows = append(rows, rowOf(response.Policy(), rule))
		}
	})
	if err != nil {
		return nil, &loss{place, lostToError, err.Error()}
	}
	return rows, nil
}

func rowOf(policy engineapi.GenericPolicy, rule engineapi.RuleResponse) row {
	told := reportutils.ToPolicyReportResult(policy, rule, nil)
	made := row{
		policy: told.Policy, rule: told.Rule, result: string(told.Result), exceptions: told.Properties["exceptions"],
	}
	if made.result != "pass" && made.result != "skip" { // nobody reads the others' words
		made.message = told.Description
	}
	return made
}

func (p *pass) enter(place int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left {
		return false
	}
	p.place, p.began = place, time.Now()
	p.slot.Begin(0, nil)
	return true
}

func (p *pass) keep(rows []row, lost *loss) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left {
		return
	}
	p.rows = append(p.rows, rows...)
	if lost != nil {
		p.losses = append(p.losses, *lost)
	}
}

// wait returns -1 when all was asked, else the place of the pair that took longer than the limit. It goes on by itself,
// as nothing can stop it; the engine replaces a process in which that happened.
func (p *pass) wait(limit time.Duration) int {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		select {
		case <-p.done:
			return -1
		case <-timer.C:
		}
		p.mu.Lock()
		left := limit - time.Since(p.began)
		if left <= 0 {
			p.left = true
			place := p.place
			p.mu.Unlock()
			ended := p.leaving()
			go func() { <-p.done; ended() }()
			return place
		}
		p.mu.Unlock()
		timer.Reset(left)
	}
}
