package transport

import (
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/understudy-go/understudy/remote"

	"github.com/understudy-go/understudy/internal/transport/wire"
)

// sessionMemory is for sessions without a connection.
const sessionMemory = 10 * time.Minute

// maxChannels bounds the channels that peers have opened to us, and those that we open: without
// TLS, a peer can pretend to be, or name, any number of peers.
const maxChannels = 8192

var errTooManyChannels = fmt.Errorf("there are %d connections or attempts already, the limit", maxChannels)

// sessions has the last inbound of each channel of each peer, so that a session can continue.
type sessions struct {
	patience time.Duration // how long an incomplete message is kept without a connection

	mu         sync.Mutex // guards all below
	last       map[linkKey]*inbound
	dismissed  bool // none begins any more
	incomplete incomplete
}

// If the previous inbound of the channel has not ended, begin returns it. The caller then closes
// it, waits, and tries again. begin fails with a [*refusal] if goesOn is set and the session is
// unknown. It fails with errTooManyChannels if there are too many channels.
func (s *sessions) begin(in *inbound, goesOn bool) (before *inbound, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dismissed {
		return nil, remote.ErrClosed
	}
	old := s.last[in.key]
	if old != nil && !old.finished() {
		return old, nil
	}
	// The former inbound has ended, so its count is final. Two at once would deliver, and count,
	// the frames of one session side by side.
	known := old != nil && !old.over && old.from == in.from && old.session == in.session
	if goesOn && !known {
		return nil, refuse(remote.RefusedSession, "it does not know session %d", in.session)
	}
	if known {
		in.received = old.received
		in.parts = old.parts
		in.arrivals.total = old.arrivals.total
		in.acked = old.received // the answer says so
	}
	s.incomplete.drop(old)
	s.expire()
	if old == nil && len(s.last) >= maxChannels && !s.forgetOne() {
		return nil, errTooManyChannels
	}
	s.last[in.key] = in
	return nil, nil
}

// forgetOne forgets the session that has been without a connection for longest, if there is one. mu
// is held.
func (s *sessions) forgetOne() bool {
	var oldest *inbound
	for _, in := range s.last {
		if in.finished() && (oldest == nil || in.ended.Before(oldest.ended)) {
			oldest = in
		}
	}
	if oldest != nil {
		s.incomplete.drop(oldest)
		delete(s.last, oldest.key)
	}
	return oldest != nil
}

// mu is held.
func (s *sessions) expire() {
	maps.DeleteFunc(s.last, func(_ linkKey, in *inbound) bool {
		return in.finished() && time.Since(in.ended) > sessionMemory
	})
}

// The inbound has received invalid frames.
func (s *sessions) invalidate(in *inbound) {
	s.mu.Lock()
	defer s.mu.Unlock()
	in.over = true
}

// What the session needs to continue is kept.
func (s *sessions) finish(in *inbound) {
	in.end()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case in.over:
		in.parts = wire.Reassembler{}
	case s.last[in.key] == in:
		s.incomplete.keep(in, s.patience, func() { s.giveUp(in) })
	}
}

// A message has been incomplete for too long.
func (s *sessions) giveUp(in *inbound) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.incomplete.giveUp(in)
}

// Each inbound ends with an acknowledgement. dismiss waits for that no longer than an
// acknowledgement may be delayed.
func (s *sessions) dismiss() {
	s.mu.Lock()
	s.dismissed = true
	var reading []*inbound
	for _, in := range s.last {
		if !in.finished() {
			reading = append(reading, in)
			in.dismiss()
		}
	}
	s.mu.Unlock()
	timer := time.NewTimer(ackDelay)
	defer timer.Stop()
	for _, in := range reading {
		select {
		case <-in.done:
		case <-timer.C:
			return
		}
	}
}

func (s *sessions) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.incomplete.dropAll()
}

func (s *sessions) hangUp(which func(remote.NodeID) bool) {
	for _, in := range s.over(which) {
		in.hangUp()
	}
}

// The inbounds are kept, because the next inbound of the channel waits for them.
func (s *sessions) over(which func(remote.NodeID) bool) (ended []*inbound) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, in := range s.last {
		if which(in.from) {
			in.over = true
			s.incomplete.drop(in)
			ended = append(ended, in)
		}
	}
	return ended
}
