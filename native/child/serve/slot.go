package serve

import (
	"sync"
	"time"
)

// Why a running piece of work was stopped.
const (
	NotStopped = iota
	StoppedByTime
	StoppedByMemory
)

// Slot is one worker's place: what it does now, since when, and how to stop it.
type Slot struct {
	mu      sync.Mutex
	since   time.Time
	limit   time.Duration
	cancel  func()
	stopped int
}

// Begin marks the start of one object. cancel, if any, is called at most once, when the limit is over or memory is
// short.
func (s *Slot) Begin(limit time.Duration, cancel func()) {
	s.mu.Lock()
	s.since, s.limit, s.cancel, s.stopped = time.Now(), limit, cancel, NotStopped
	s.mu.Unlock()
}

// End marks the object done and says whether it was stopped.
func (s *Slot) End() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.since, s.cancel = time.Time{}, nil
	return s.stopped
}

func (s *Slot) age(now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.since.IsZero() {
		return 0
	}
	return now.Sub(s.since)
}

func (s *Slot) stop(reason int, overdue func(since time.Time, limit time.Duration) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel == nil || !overdue(s.since, s.limit) {
		return
	}
	s.stopped = reason
	s.cancel()
	s.cancel = nil
}
