package remote

import (
	"errors"
	"time"

	"github.com/understudy-go/understudy/remote/internal/outbox"
)

// maxStall is how long a peer may acknowledge nothing while senders wait for room in its outbox.
// Then their messages, and further ones, become dead letters immediately until there is room.
const maxStall = time.Second

// patience says whether a sender waits for room in an outbox.
type patience struct {
	waits bool
	stop  <-chan struct{} // ends the wait; nil if nothing else does
}

// enqueueWaiting is enqueue for a sender that may wait.
func (s *links) enqueueWaiting(key linkKey, x outbox.Frame, by patience) error {
	err := s.enqueue(key, x)
	for by.waits && errors.Is(err, ErrOutboxFull) {
		l, gone := s.get(key)
		if gone != nil {
			return gone
		}
		if !l.awaitRoom(len(x.Bytes), by.stop) {
			return err
		}
		err = s.enqueue(key, x)
	}
	return err
}

// awaitRoom waits until there may be room for a frame of that size. It returns false if there is
// none and the peer acknowledges nothing, or stop is closed.
func (l *link) awaitRoom(size int, stop <-chan struct{}) bool {
	room, left := l.room(size)
	if room == nil {
		return true
	}
	if left <= 0 {
		return false
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-room:
	case <-timer.C: // the peer may have acknowledged something meanwhile
	case <-stop:
		return false
	}
	return true
}

// room returns a channel that is closed when there is room again, and how much longer the peer may
// acknowledge nothing; or nil if the frame need not wait.
func (l *link) room(size int) (closed <-chan struct{}, left time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over || l.out.HasRoom(size) {
		return nil, 0
	}
	if l.roomy == nil {
		l.roomy = make(chan struct{})
	}
	return l.roomy, time.Until(l.timing.since.Add(min(maxStall, l.links.cfg.UnreachableAfter)))
}

// noteRoom wakes the senders that wait for room once the outbox is half empty, so that they do not
// wake up for one frame each. The caller holds mu.
func (l *link) noteRoom() {
	if l.roomy != nil && (l.over || l.out.HalfEmpty()) {
		close(l.roomy)
		l.roomy = nil
	}
}
