package evaluator

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/cover"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"

	"fleetaudit.dev/child/serve"
	"fleetaudit.dev/child/wire"
)

// objectsPerTask is small enough to keep all cores busy at the end of a batch.
const objectsPerTask = 8

var (
	errNotLoaded = errors.New("no program is loaded")
	errNoSuite   = errors.New("no suite is loaded")
)

// Handler serves the eval mode.
type Handler struct {
	view   *view
	suite  *suite
	parsed parsedSources // of inspections since the last load
}

// Handle starts one request.
func (h *Handler) Handle(m wire.Message, pool *serve.Pool) {
	var err error
	switch m.Type {
	case wire.TypeInspect:
		var request InspectRequest
		if err = json.Unmarshal(m.Payload, &request); err == nil {
			if h.parsed == nil {
				h.parsed = parsedSources{}
			}
			pool.Done(m.ID, inspect(request, h.parsed))
		}
	case wire.TypeLoad:
		err = h.load(m, pool)
	case wire.TypeInventory:
		if err = h.inventory(m.Payload); err == nil {
			pool.Done(m.ID, struct{}{})
		}
	case wire.TypeBatch:
		err = h.batch(m, pool)
	case wire.TypeQuery:
		var request QueryRequest
		if err = json.Unmarshal(m.Payload, &request); err == nil {
			answered(pool, m.ID, func(slot *serve.Slot) any { return Query(request, slot) })
		}
	case wire.TypeTrace:
		var request TraceRequest
		if err = json.Unmarshal(m.Payload, &request); err == nil {
			err = h.trace(m.ID, request, pool)
		}
	case wire.TypeSuite:
		var request SuiteRequest
		if err = json.Unmarshal(m.Payload, &request); err == nil {
			var report SuiteReport
			h.suite, report = loadSuite(request)
			pool.Done(m.ID, report)
		}
	case wire.TypeTests:
		err = h.tests(m, pool)
	default:
		err = errors.New("unknown request")
	}
	if err != nil {
		pool.Fail(m.ID, "bad_request", err)
	}
}

// answered works on a request and sends its answer as JSON.
func answered(pool *serve.Pool, id uint32, work func(*serve.Slot) any) {
	pool.Submit(func(slot *serve.Slot) serve.Emit {
		payload, err := json.Marshal(work(slot))
		return func(out *wire.Writer) error {
			if err != nil {
				return err
			}
			return out.Send(wire.TypeDone, id, payload)
		}
	})
}

func (h *Handler) trace(id uint32, request TraceRequest, pool *serve.Pool) error {
	if h.view == nil {
		return errNotLoaded
	}
	current := h.view
	current.idle.Add(1)
	answered(pool, id, func(slot *serve.Slot) any {
		defer current.idle.Done()
		return current.trace(slot, request)
	})
	return nil
}

func (h *Handler) load(m wire.Message, pool *serve.Pool) error {
	var request LoadRequest
	if err := json.Unmarshal(m.Payload, &request); err != nil {
		return err
	}
	loaded, report := load(request, h.parsed)
	if loaded != nil {
		store := inmem.NewFromObjectWithOpts(
			loaded.data, inmem.OptReturnASTValuesOnRead(true), inmem.OptRoundTripOnWrite(false))
		loaded.data = nil
		next := &view{program: loaded, store: store}
		if err := next.open(); err != nil {
			return err
		}
		h.view = next
		h.parsed = nil // the compiler has copies
	}
	pool.Done(m.ID, report)
	return nil
}

// open starts the read transaction that all evaluations share.
func (v *view) open() (err error) {
	v.txn, err = v.store.NewTransaction(context.Background())
	return err
}

// inventory replaces data.inventory. Work under way is finished first, so that no object sees half a change.
func (h *Handler) inventory(payload []byte) error {
	if h.view == nil {
		return errNotLoaded
	}
	value, err := parseInput(payload)
	if err != nil {
		return err
	}
	if _, ok := value.Value.(ast.Object); !ok {
		return errors.New("the inventory is no object")
	}
	ctx := context.Background()
	old := h.view
	old.idle.Wait()
	old.store.Abort(ctx, old.txn)
	path := storage.MustParsePath("/inventory")
	err = storage.Txn(ctx, old.store, storage.WriteParams, func(txn storage.Transaction) error {
		return old.store.Write(ctx, txn, storage.AddOp, path, value.Value)
	})
	return errors.Join(err, old.open())
}

type subject struct {
	kind string
	raw  []byte
}

func (h *Handler) batch(m wire.Message, pool *serve.Pool) error {
	if h.view == nil {
		return errNotLoaded
	}
	fields := wire.NewFields(m.Payload)
	subjects := make([]subject, fields.Count(8))
	for i := range subjects {
		subjects[i] = subject{kind: string(fields.Bytes()), raw: fields.Bytes()}
	}
	if err := fields.End(); err != nil {
		return err
	}
	current := h.view
	payload := wire.AppendArray(nil, len(subjects))
	for len(subjects) > 0 {
		part := subjects[:min(objectsPerTask, len(subjects))]
		subjects = subjects[len(part):]
		current.idle.Add(1)
		pool.Submit(func(slot *serve.Slot) serve.Emit {
			defer current.idle.Done()
			var encoded []byte
			for _, s := range part {
				encoded = appendAnswers(encoded, current.ask(slot, s.kind, s.raw))
			}
			return func(*wire.Writer) error {
				payload = append(payload, encoded...)
				return nil
			}
		})
	}
	pool.Then(func(out *wire.Writer) error { return out.Send(wire.TypeDone, m.ID, payload) })
	return nil
}

// tests runs tests of the suite on all cores and answers them together.
func (h *Handler) tests(m wire.Message, pool *serve.Pool) error {
	if h.suite == nil {
		return errNoSuite
	}
	var request TestsRequest
	if err := json.Unmarshal(m.Payload, &request); err != nil {
		return err
	}
	current := h.suite
	var reached *cover.Cover
	if current.coverage {
		reached = cover.New()
	}
	answers := make([]TestAnswer, len(request.Tests))
	for i, test := range request.Tests {
		pool.Submit(func(slot *serve.Slot) serve.Emit {
			answers[i] = current.run(slot, test, reached)
			return nil
		})
	}
	pool.Then(func(out *wire.Writer) error {
		answer := TestsAnswer{Tests: answers}
		if reached != nil {
			answer.Coverage = current.linesOf(reached)
		}
		payload, err := json.Marshal(answer)
		if err != nil {
			return err
		}
		return out.Send(wire.TypeDone, m.ID, payload)
	})
	return nil
}
