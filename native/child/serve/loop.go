package serve

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"

	"fleetaudit.dev/child/wire"
)

// Hello introduces the child; the engine refuses one it does not know.
type Hello struct {
	Protocol int    `json:"protocol"`
	Mode     string `json:"mode"`
	OPA      string `json:"opa,omitempty"`
	Kyverno  string `json:"kyverno,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// Failure is the payload of a failed request.
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Handler starts the work of one request. Requests are handed over one at a time, in order; Handle may return before
// the work is done, as long as it was submitted to the pool.
type Handler interface {
	Handle(message wire.Message, pool *Pool)
}

// Fail answers a request with an error, in its place in the order.
func (p *Pool) Fail(id uint32, code string, err error) {
	p.Then(func(out *wire.Writer) error {
		payload, marshalErr := json.Marshal(Failure{Code: code, Message: err.Error()})
		if marshalErr != nil {
			return marshalErr
		}
		return out.Send(wire.TypeFailed, id, payload)
	})
}

// Done answers a request with a JSON document, in its place in the order.
func (p *Pool) Done(id uint32, answer any) {
	p.Then(func(out *wire.Writer) error {
		payload, err := json.Marshal(answer)
		if err != nil {
			return err
		}
		return out.Send(wire.TypeDone, id, payload)
	})
}

// requestsAhead is more than an engine that keeps its credit window ever has under way, so reading stdin never waits
// for work.
const requestsAhead = 64

// MemoryLimit is the resident memory in bytes that the engine allows, 0 for no limit.
func MemoryLimit() int64 {
	limit, err := strconv.ParseInt(os.Getenv("FLEETAUDIT_NATIVE_MEMORY"), 10, 64)
	if err != nil {
		return 0
	}
	return limit
}

// Run serves requests until stdin ends. The end of stdin ends the process at once, even in the middle of work: the
// engine is gone or wants no more.
func Run(hello Hello, memoryLimit int64, handler Handler) int {
	out := wire.NewWriter(os.Stdout)
	greeting, err := json.Marshal(hello)
	if err == nil {
		err = out.Send(wire.TypeHello, 0, greeting)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cannot write:", err)
		return ExitProtocol
	}
	pool := NewPool(out, func(error) { os.Exit(0) }) // nobody reads any more
	go pool.watch(memoryLimit)

	requests := make(chan wire.Message, requestsAhead)
	go readRequests(os.Stdin, requests)
	for message := range requests {
		handler.Handle(message, pool)
	}
	return 0
}

func readRequests(in io.Reader, requests chan<- wire.Message) {
	reader := wire.NewReader(in)
	for {
		message, err := reader.Next()
		if err == io.EOF {
			os.Exit(0)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "cannot read requests:", err)
			os.Exit(ExitProtocol)
		}
		requests <- message
	}
}
