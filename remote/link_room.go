package remote

import (
	"errors"
	"time"

	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/remote/internal/outbox"
)

// maxStall is how long a peer may acknowledge nothing while senders wait for room in its outbox.
// Then their messages, and further ones, become dead letters immediately until there is room.
const maxStall = time.Second

// patience says whether, and how long, a sender waits for room in an outbox.
type patience struct {
	extension.Patience
	waits bool
}

// until returns when a wait that begins now ends in any case. A bound is needed because small
// messages of others may take the room that a large one waits for.
func (p patience) until(cfg *Config) time.Time {
	limit := cfg.UnreachableAfter
	if p.Within > 0 {
		limit = min(limit, p.Within)
	}
	return time.Now().Add(limit)
}

// enqueueWaiting is enqueue for a sender that may wait.
func (s *links) enqueueWaiting(key linkKey, x outbox.Frame, by patience) error {
	err := s.enqueue(key, x)
	if !errors.Is(err, ErrOutboxFull) {
		return err
	}
	for until := by.until(&s.cfg); errors.Is(err, ErrOutboxFull); err = s.enqueue(key, x) {
		l, gone := s.get(key)
		if gone != nil {
			return gone
		}
		if !by.waits || !l.awaitRoom(len(x.Bytes), by, until) {
			l.noteDropped()
			break
		}
	}
	return err
}

// noteDropped counts a frame that had no room.
func (l *link) noteDropped() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dropped++
}

// awaitRoom waits until there may be room for a frame of that size. It returns false when the
// sender must not wait longer.
func (l *link) awaitRoom(size int, by patience, until time.Time) bool {
	room, left := l.room(size)
	if room == nil {
		return true
	}
	if left = min(left, time.Until(until)); left <= 0 {
		return false
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-room:
	case <-timer.C: // the peer may have acknowledged something meanwhile
	case <-by.Done:
		return false
	case <-by.Hurried:
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
