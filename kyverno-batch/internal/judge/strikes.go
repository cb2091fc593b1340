package judge

import "sync"

// strikesOut is how many objects a policy may take too long over before it is not asked any more.
const strikesOut = 3

// strikes counts pairs that were left alone: per policy, and how many still run.
type strikes struct {
	mu        sync.Mutex
	byPolicy  map[string]int
	abandoned int
}

func newStrikes() *strikes { return &strikes{byPolicy: map[string]int{}} }

func (s *strikes) strike(policy string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.byPolicy[policy]++
}

func (s *strikes) out(policy string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byPolicy[policy] >= strikesOut
}

// leave notes a goroutine that nobody waits for; what it returns is called at its end.
func (s *strikes) leave() func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.abandoned++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.abandoned--
	}
}

func (s *strikes) running() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.abandoned
}
