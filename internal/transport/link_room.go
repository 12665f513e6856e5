package transport

import (
	"context"
	"errors"
	"time"

	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/transport/outbox"
	"github.com/understudy-go/understudy/remote"
)

// How long a peer may acknowledge nothing while senders wait for room in its outbox. After that
// their messages, and further ones, become dead letters immediately until there is room.
const maxStall = time.Second

type patience struct {
	extension.Patience
	waits bool
}

// A bound is needed because small messages of others may take the room that a large one waits for.
func (p patience) until(cfg *Config) time.Time {
	limit := cfg.UnreachableAfter
	if p.Within > 0 {
		limit = min(limit, p.Within)
	}
	return time.Now().Add(limit)
}

func (s *links) enqueueWaiting(key linkKey, x outbox.Frame, by patience) error {
	err := s.enqueue(key, x)
	if !errors.Is(err, remote.ErrOutboxFull) {
		return err
	}
	for until := by.until(&s.cfg); errors.Is(err, remote.ErrOutboxFull); err = s.enqueue(key, x) {
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

func (l *link) noteDropped() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dropped++
}

// False means that the sender must not wait longer.
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

// left is how much longer the peer may acknowledge nothing. The channel is nil if the frame need
// not wait.
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

// noteRoom wakes senders once the outbox is half empty, so that they do not wake up for one frame
// each. mu is held.
func (l *link) noteRoom() {
	if l.roomy != nil && (l.over || l.out.HalfEmpty()) {
		close(l.roomy)
		l.roomy = nil
	}
}

// Flush waits until all earlier messages to actors on other nodes are acknowledged or have become
// dead letters. If ctx ends first, it returns the cause of ctx.
func (e *Endpoint) Flush(ctx context.Context) error {
	for _, l := range e.links.to("") {
		if l.key.channel == channelControl {
			continue // it is never quiet
		}
		select {
		case <-l.flushed():
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func (l *link) flushed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.empty == nil {
		l.empty = make(chan struct{})
	}
	empty := l.empty
	l.noteEmpty()
	return empty
}

// noteEmpty wakes the callers of Flush if the link is empty, and senders if it has room. mu is
// held.
func (l *link) noteEmpty() {
	l.noteRoom()
	if l.empty != nil && l.out.Len() == 0 {
		close(l.empty)
		l.empty = nil
	}
}
