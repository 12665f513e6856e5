package leases

import (
	"sync"
	"time"
)

// observations are the last records that this process has seen, one for each name, and since when.
// The zero value is empty; its methods may be called from any goroutine.
type observations struct {
	mu   sync.Mutex // guards last
	last map[string]observation
}

type observation struct {
	revision uint64
	nonce    string
	since    time.Time
}

// saw records the result of a read whose answer came at now. The record may have been written long
// before.
func (s *observations) saw(name string, r record, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := s.last[name]; last.revision != r.revision || last.nonce != r.nonce {
		s.note(name, r, now)
	}
}

// wrote records a write that this process has sent at began: the record cannot be older, and its
// holder counts from an earlier time.
func (s *observations) wrote(name string, r record, began time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(name, r, began)
}

// note must be called with mu held.
func (s *observations) note(name string, r record, since time.Time) {
	if s.last == nil {
		s.last = map[string]observation{}
	}
	s.last[name] = observation{revision: r.revision, nonce: r.nonce, since: since}
}

func (s *observations) age(name string, r record) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, seen := s.last[name]
	if !seen || last.revision != r.revision {
		return 0
	}
	return time.Since(last.since)
}
