package serve

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"fleetaudit.dev/child/wire"
)

// Exit codes the engine tells apart.
const (
	ExitProtocol = 3
	ExitMemory   = 86
	ExitPanic    = 87
)

const (
	tick         = 10 * time.Millisecond
	memoryEvery  = 5   // ticks
	beatEvery    = 50  // ticks
	softFraction = 0.8 // of the memory limit: running work is stopped before the process is
)

type heartbeat struct {
	OldestMS int64 `json:"oldest_ms"`
	Resident int64 `json:"resident"`
}

// watch stops overdue work, guards resident memory and sends heartbeats. memoryLimit 0 means none.
func (p *Pool) watch(memoryLimit int64) {
	for n := 1; ; n++ {
		time.Sleep(tick)
		now := time.Now()
		for _, slot := range p.slots {
			slot.stop(StoppedByTime, func(since time.Time, limit time.Duration) bool {
				return limit > 0 && now.Sub(since) > limit
			})
		}
		if memoryLimit > 0 && n%memoryEvery == 0 {
			p.guardMemory(memoryLimit)
		}
		if n%beatEvery == 0 {
			p.beat(now)
		}
	}
}

func (p *Pool) guardMemory(limit int64) {
	resident := residentBytes()
	switch {
	case resident > limit:
		fmt.Fprintf(os.Stderr, "resident memory of %d bytes is over the limit of %d\n", resident, limit)
		os.Exit(ExitMemory)
	case float64(resident) > softFraction*float64(limit):
		debug.FreeOSMemory() // garbage alone must not stop anybody
		if float64(residentBytes()) < softFraction*float64(limit) {
			return
		}
		for _, slot := range p.slots {
			slot.stop(StoppedByMemory, func(time.Time, time.Duration) bool { return true })
		}
		debug.FreeOSMemory()
	}
}

func (p *Pool) beat(now time.Time) {
	var oldest time.Duration
	for _, slot := range p.slots {
		oldest = max(oldest, slot.age(now))
	}
	payload, err := json.Marshal(heartbeat{OldestMS: oldest.Milliseconds(), Resident: residentBytes()})
	if err == nil {
		err = p.out.Send(wire.TypeHeartbeat, 0, payload)
	}
	if err != nil {
		p.broken(err)
	}
}

func stop(message string) {
	fmt.Fprintln(os.Stderr, message)
	os.Exit(ExitPanic)
}
