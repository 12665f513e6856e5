package remote

import (
	"maps"
	"sync"
	"time"
)

// sessionMemory is how long the count of a session is kept without a connection.
const sessionMemory = 10 * time.Minute

// sessions knows the last inbound of each lane of each peer, so that a session can go on
// where it was cut off.
type sessions struct {
	mu   sync.Mutex // guards last
	last map[linkKey]*inbound
}

// begin makes in the inbound of its lane. The one before it has to finish first: begin
// hangs it up, and returns it for the caller to wait and try again.
func (s *sessions) begin(in *inbound) (before *inbound) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.last[in.key]
	if old != nil && !old.finished() {
		old.hangUp()
		return old
	}
	if old != nil && old.from == in.from && old.session == in.session {
		in.received = old.received
		in.acked = old.received // the answer says so
	}
	s.last[in.key] = in
	s.expire()
	return nil
}

// expire forgets sessions that will hardly go on. The caller holds mu.
func (s *sessions) expire() {
	maps.DeleteFunc(s.last, func(_ linkKey, in *inbound) bool {
		return in.finished() && time.Since(in.ended) > sessionMemory
	})
}

// hangUp ends and forgets the inbounds from those peers.
func (s *sessions) hangUp(which func(Peer) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.last, func(_ linkKey, in *inbound) bool {
		gone := which(in.from)
		if gone {
			in.hangUp()
		}
		return gone
	})
}
