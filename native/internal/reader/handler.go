package reader

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"fleetaudit.dev/child/serve"
	"fleetaudit.dev/child/wire"
)

// Limits bound what one file or document may cost.
type Limits struct {
	MaxFileBytes int   `json:"max_file_bytes"`
	MaxDepth     int   `json:"max_depth"`
	MaxNodes     int   `json:"max_nodes"`
	DocumentMS   int64 `json:"document_ms"`
}

// Config is what the engine wants of the objects; kinds are written group/Kind, core ones Kind; among the
// projections group/* stands for every kind of a group.
type Config struct {
	Limits       Limits                `json:"limits"`
	Projections  map[string][][]string `json:"projections"`
	PodTemplates map[string][]Place    `json:"pod_templates"`

	judged map[string][][]string // patterns of the containers that rules see, by kind
}

// bytesPerTask is the text that one worker takes at a time.
const bytesPerTask = 48 << 10

var errNotConfigured = errors.New("the reader is not configured")

// Handler serves the read mode.
type Handler struct {
	config *Config
}

// Handle starts one request.
func (h *Handler) Handle(m wire.Message, pool *serve.Pool) {
	var err error
	switch m.Type {
	case wire.TypeConfigure:
		config := &Config{}
		if err = json.Unmarshal(m.Payload, config); err == nil {
			config.judged = judgedContainers(config.PodTemplates)
			h.config = config
			pool.Done(m.ID, struct{}{})
		}
	case wire.TypeBatch:
		err = h.batch(m, pool)
	case wire.TypePositions:
		err = h.positions(m, pool)
	default:
		err = errors.New("unknown request")
	}
	if err != nil {
		pool.Fail(m.ID, "bad_request", err)
	}
}

func (h *Handler) batch(m wire.Message, pool *serve.Pool) error {
	if h.config == nil {
		return errNotConfigured
	}
	fields := wire.NewFields(m.Payload)
	type source struct {
		token int64
		data  []byte
	}
	sources := make([]source, fields.Count(8))
	for i := range sources {
		sources[i] = source{int64(fields.Uint32()), fields.Bytes()}
	}
	if err := fields.End(); err != nil {
		return err
	}
	for _, s := range sources {
		h.file(m.ID, s.token, s.data, pool)
	}
	pool.Then(func(out *wire.Writer) error { return out.Send(wire.TypeDone, m.ID, nil) })
	return nil
}

// file submits a file's documents in tasks of a few documents each, and closes it behind them.
func (h *Handler) file(id uint32, token int64, data []byte, pool *serve.Pool) {
	config := h.config
	documents := 0
	var failed *problem
	var text string
	var err error
	if len(data) > config.Limits.MaxFileBytes {
		failed = &problem{codeTooLarge, fmt.Sprintf("the file is larger than %d bytes", config.Limits.MaxFileBytes), 0}
	} else if text, err = plainText(data); err != nil {
		failed = &problem{codeInvalidUTF8, err.Error(), 1}
	}
	chunks := split(text)
	for len(chunks) > 0 {
		n, size := 0, 0
		for n < len(chunks) && (n == 0 || size+len(chunks[n].text) <= bytesPerTask) {
			size += len(chunks[n].text)
			n++
		}
		part := chunks[:n]
		chunks = chunks[n:]
		pool.Submit(func(slot *serve.Slot) serve.Emit {
			var found events
			for _, c := range part {
				slot.Begin(time.Duration(config.Limits.DocumentMS)*time.Millisecond, nil)
				read(c, token, config, &found)
			}
			return func(out *wire.Writer) error {
				documents += found.documents
				return found.send(out, id)
			}
		})
	}
	pool.Submit(func(*serve.Slot) serve.Emit {
		sum := sha256.Sum256(data)
		return func(out *wire.Writer) error {
			var last events
			last.fileDone(token, hex.EncodeToString(sum[:]), documents, failed)
			return last.send(out, id)
		}
	})
}

func (e *events) send(out *wire.Writer, id uint32) error {
	if e.count == 0 {
		return nil
	}
	return out.Send(wire.TypePart, id, append(wire.AppendArray(nil, e.count), e.encoded...))
}
