package kubernetes

import (
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// observations are the last records that this process has seen, one for each object, and since
// when. The zero value is empty; its methods may be called from any goroutine.
type observations struct {
	mu   sync.Mutex // guards the fields below
	last map[string]*observation
}

type observation struct {
	object *coordinationv1.Lease // nil if there is no object; never changed
	since  time.Time             // when the record in it was first seen
	token  uint64                // the highest ever seen
}

// saw records the result of a read. The record may have been written long before.
func (s *observations) saw(o *coordinationv1.Lease, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.of(o.Name)
	if last.object == nil || last.object.UID != o.UID || !equality.Semantic.DeepEqual(last.object.Spec, o.Spec) {
		last.since = now
	}
	last.note(o)
}

// wrote records a write that this process has sent at began: the record cannot be older.
func (s *observations) wrote(o *coordinationv1.Lease, began time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.of(o.Name)
	last.since = began
	last.note(o)
}

func (s *observations) gone(object string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of(object).object = nil
}

func (s *observations) age(object string) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.of(object)
	if last.object == nil {
		return 0
	}
	return time.Since(last.since)
}

func (s *observations) object(name string) *coordinationv1.Lease {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of(name).object
}

func (s *observations) token(object string) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.of(object).token
}

// of is called with mu held.
func (s *observations) of(object string) *observation {
	if s.last == nil {
		s.last = map[string]*observation{}
	}
	if s.last[object] == nil {
		s.last[object] = &observation{}
	}
	return s.last[object]
}

func (s *observation) note(o *coordinationv1.Lease) {
	s.object = o
	s.token = max(s.token, transitions(o))
}
