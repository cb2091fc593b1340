// Package judge serves batches: objects and policies in, what Kyverno says of each pair out.
package judge

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"fleetaudit.dev/child/serve"
	"fleetaudit.dev/child/wire"
	"fleetaudit.dev/kyverno-batch/internal/policies"
)

const (
	// objectsPerTask is small enough to keep all cores busy at the end of a batch.
	objectsPerTask = 8
	usualPairLimit = 10 * time.Second
)

// Handler serves the judge mode. Policies stay loaded until the process ends; the engine names them by what they say, so
// that nothing is ever replaced.
type Handler struct {
	limit time.Duration
	sets  map[string]*policies.Set
	watch *strikes
}

// NewHandler prepares what every policy needs.
func NewHandler() (*Handler, error) {
	return &Handler{limit: usualPairLimit, sets: map[string]*policies.Set{}, watch: newStrikes()}, nil
}

type configuration struct {
	PairMS int64 `json:"pair_ms"`
}

// Batch is the head of a batch request; the objects follow it.
type Batch struct {
	Policies   []string        `json:"policies"`
	Namespaces policies.Labels `json:"namespaces"`
	// Canary is the policy that the last object, and no other, is judged by.
	Canary string `json:"canary"`
}

// Handle starts one request.
func (h *Handler) Handle(m wire.Message, pool *serve.Pool) {
	var err error
	switch m.Type {
	case wire.TypeConfigure:
		var request configuration
		if err = json.Unmarshal(m.Payload, &request); err == nil {
			h.limit = time.Duration(request.PairMS) * time.Millisecond
			pool.Done(m.ID, struct{}{})
		}
	case wire.TypeLoad:
		var request struct {
			Policies []policies.Source `json:"policies"`
		}
		if err = json.Unmarshal(m.Payload, &request); err == nil {
			pool.Done(m.ID, h.load(request.Policies))
		}
	case wire.TypeBatch:
		err = h.batch(m, pool)
	default:
		err = errors.New("unknown request")
	}
	if err != nil {
		pool.Fail(m.ID, "bad_request", err)
	}
}

func (h *Handler) load(sources []policies.Source) []policies.Report {
	reports := make([]policies.Report, len(sources))
	for i, source := range sources {
		set, report := policies.Load(source)
		if set != nil {
			h.sets[source.ID] = set
		}
		reports[i] = report
	}
	return reports
}

func (h *Handler) batch(m wire.Message, pool *serve.Pool) error {
	fields := wire.NewFields(m.Payload)
	head := fields.Bytes()
	objects := make([][]byte, fields.Count(4))
	for i := range objects {
		objects[i] = fields.Bytes()
	}
	if err := fields.End(); err != nil {
		return err
	}
	var batch Batch
	if err := json.Unmarshal(head, &batch); err != nil {
		return err
	}
	asked, err := h.named(batch.Policies...)
	if err != nil {
		return err
	}
	canary, err := h.named(batch.Canary)
	if err != nil || len(objects) == 0 {
		return errors.Join(err, errors.New("a batch needs a canary"))
	}
	h.submit(m.ID, pool, asked, canary, objects, batch.Namespaces)
	return nil
}

func (h *Handler) submit(
	id uint32, pool *serve.Pool, asked, canary []namedSet, objects [][]byte, labels policies.Labels,
) {
	payload := wire.AppendArray(nil, len(objects)+1)
	last := len(objects) - 1
	for start := 0; start < len(objects); start += objectsPerTask {
		part := objects[start:min(start+objectsPerTask, len(objects))]
		pool.Submit(func(slot *serve.Slot) serve.Emit {
			var encoded []byte
			for i, raw := range part {
				sets := asked
				if start+i == last {
					sets = canary
				}
				encoded = appendAnswer(encoded, h.judge(slot, raw, labels, sets))
			}
			return func(*wire.Writer) error {
				payload = append(payload, encoded...)
				return nil
			}
		})
	}
	pool.Then(func(out *wire.Writer) error {
		return out.Send(wire.TypeDone, id, appendAbandoned(payload, h.watch.running()))
	})
}

type namedSet struct {
	id  string
	set *policies.Set
}

func (h *Handler) named(ids ...string) ([]namedSet, error) {
	found := make([]namedSet, len(ids))
	for i, id := range ids {
		set, ok := h.sets[id]
		if !ok {
			return nil, fmt.Errorf("the policy %.16s is not loaded", id)
		}
		found[i] = namedSet{id: id, set: set}
	}
	return found, nil
}
