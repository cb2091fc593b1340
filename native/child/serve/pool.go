// Package serve runs a child's main loop: requests in, work on all cores, replies in the order asked.
package serve

import (
	"fmt"
	"runtime"
	"sync"

	"fleetaudit.dev/child/wire"
)

// Emit writes a finished task's reply. Emits run one at a time, in the order their tasks were submitted.
type Emit func(out *wire.Writer) error

type task struct {
	run  func(*Slot) Emit
	emit Emit
	done chan struct{}
}

// Pool runs tasks on all cores and emits their results in order. At most a few tasks per core are in flight, so
// neither side hoards memory.
type Pool struct {
	slots   []*Slot
	work    chan *task
	ordered chan *task
	out     *wire.Writer
	idle    sync.WaitGroup
	broken  func(error)
}

// NewPool starts as many workers as GOMAXPROCS allows. broken is called once the reply pipe cannot be written.
func NewPool(out *wire.Writer, broken func(error)) *Pool {
	jobs := runtime.GOMAXPROCS(0)
	pool := &Pool{
		work:    make(chan *task, jobs),
		ordered: make(chan *task, 8*jobs),
		out:     out,
		broken:  broken,
	}
	for range jobs {
		slot := &Slot{}
		pool.slots = append(pool.slots, slot)
		go pool.worker(slot)
	}
	go pool.writer()
	return pool
}

// Submit queues work; it blocks while too much is in flight.
func (p *Pool) Submit(run func(*Slot) Emit) {
	t := &task{run: run, done: make(chan struct{})}
	p.idle.Add(1)
	p.ordered <- t
	p.work <- t
}

// Then queues an emit behind everything submitted so far.
func (p *Pool) Then(emit Emit) {
	t := &task{emit: emit, done: make(chan struct{})}
	close(t.done)
	p.idle.Add(1)
	p.ordered <- t
}

// Wait returns once everything submitted has been emitted.
func (p *Pool) Wait() { p.idle.Wait() }

func (p *Pool) worker(slot *Slot) {
	for t := range p.work {
		t.emit = guarded(t.run, slot)
		close(t.done)
	}
}

// guarded turns a panic that no inner guard caught into a dead child: the engine restarts it and finds the item.
func guarded(run func(*Slot) Emit, slot *Slot) (emit Emit) {
	defer func() {
		if p := recover(); p != nil {
			stop(fmt.Sprintf("panic in a worker: %v", p))
		}
	}()
	defer slot.End()
	return run(slot)
}

func (p *Pool) writer() {
	for t := range p.ordered {
		<-t.done
		if t.emit != nil {
			if err := t.emit(p.out); err != nil {
				p.broken(err)
			}
		}
		p.idle.Done()
	}
}
