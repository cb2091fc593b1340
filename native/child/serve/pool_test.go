package serve

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"fleetaudit.dev/child/wire"
)

func TestEmitsKeepTheOrderOfSubmission(t *testing.T) {
	var pipe bytes.Buffer
	pool := NewPool(wire.NewWriter(&pipe), func(err error) { t.Error(err) })
	const tasks = 500
	for id := range uint32(tasks) {
		if id%7 == 0 {
			pool.Then(func(out *wire.Writer) error { return out.Send(wire.TypeDone, id, nil) })
			continue
		}
		pool.Submit(func(*Slot) Emit {
			time.Sleep(time.Duration(rand.IntN(300)) * time.Microsecond)
			return func(out *wire.Writer) error { return out.Send(wire.TypePart, id, nil) }
		})
	}
	pool.Wait()
	in := wire.NewReader(&pipe)
	for id := range uint32(tasks) {
		message, err := in.Next()
		if err != nil || message.ID != id {
			t.Fatalf("message %d has id %d, %v", id, message.ID, err)
		}
	}
}

func TestASlotIsStoppedOnceAndOnlyWhenOverdue(t *testing.T) {
	calls := 0
	slot := &Slot{}
	always := func(time.Time, time.Duration) bool { return true }
	slot.stop(StoppedByTime, always) // idle: nothing to stop
	slot.Begin(time.Minute, func() { calls++ })
	slot.stop(StoppedByTime, func(_ time.Time, limit time.Duration) bool { return limit > time.Hour })
	if calls != 0 {
		t.Error("stopped before its time")
	}
	slot.stop(StoppedByMemory, always)
	slot.stop(StoppedByTime, always)
	if calls != 1 {
		t.Errorf("stopped %d times", calls)
	}
	if reason := slot.End(); reason != StoppedByMemory {
		t.Errorf("reason %d", reason)
	}
	slot.Begin(0, nil)
	if slot.age(time.Now().Add(time.Second)) < time.Second {
		t.Error("age is not told")
	}
	if slot.End() != NotStopped || slot.age(time.Now()) != 0 {
		t.Error("the next piece of work inherits from the last one")
	}
}

func TestResidentMemoryIsKnown(t *testing.T) {
	if resident := residentBytes(); resident < 1<<20 {
		t.Errorf("%d bytes", resident)
	}
}
