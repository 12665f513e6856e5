package nats

import (
	"sync"
	"time"
)

// sightings are the records that this process has seen last, one for each name, and since
// when. The zero value is empty; its methods may be called from any goroutine.
type sightings struct {
	mu   sync.Mutex // guards last
	last map[string]sighting
}

type sighting struct {
	revision uint64
	mark     string
	since    time.Time
}

// saw notes what a read has found, and that its answer came now. The record may have been
// written long before.
func (s *sightings) saw(name string, r record, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := s.last[name]; last.revision != r.revision || last.mark != r.mark {
		s.note(name, r, now)
	}
}

// wrote notes what this process has written with a request sent at began: the record
// cannot be older, and its holder counts from before that.
func (s *sightings) wrote(name string, r record, began time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(name, r, began)
}

// note is called with mu held.
func (s *sightings) note(name string, r record, since time.Time) {
	if s.last == nil {
		s.last = map[string]sighting{}
	}
	s.last[name] = sighting{revision: r.revision, mark: r.mark, since: since}
}

// age returns for how long the record of that revision has been seen unchanged.
func (s *sightings) age(name string, r record) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, seen := s.last[name]
	if !seen || last.revision != r.revision {
		return 0
	}
	return time.Since(last.since)
}
