package singleton

import (
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/codel"
	"github.com/understudy-go/understudy/internal/metadata"
	"github.com/understudy-go/understudy/singleton/internal/handover"
)

// An entry decides which messages enter the window of [AtLeastOnce] on the node where they were
// sent. The request of an ask that has ended does not. Requests that could hardly be answered in
// time do not either: they wait here and not for the instance, so its own measure does not see it.
type entry struct {
	m     *manager
	delay codel.Delay
	last  time.Duration // when a message entered while others waited; 0 if none did
}

// admits reports whether a message enters, with so many behind it; if not it is a dead letter.
func (e *entry) admits(w handover.Waiting, behind int) bool {
	now := metadata.Now()
	if behind == 0 {
		e.delay, e.last = codel.Delay{}, 0
	}
	if why := e.refusal(w, behind, now); why != nil {
		e.m.withdraw(w.Message, why)
		return false
	}
	if e.last != 0 {
		e.delay.Took(now - e.last)
	}
	if e.last = 0; behind > 0 {
		e.last = now
	}
	return true
}

func (e *entry) refusal(w handover.Waiting, behind int, now time.Duration) error {
	r := w.Metadata.Request()
	if w.Withdrawn() {
		return actor.ErrWithdrawn
	}
	if r == nil {
		return nil
	}
	left, all, ok := r.Left(now)
	if ok && e.delay.Matters(left, all) && e.delay.Refuses(left, all, now, func() int { return behind }) {
		return actor.ErrOverloaded
	}
	return nil
}
