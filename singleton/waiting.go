package singleton

import (
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
)

// A waiting message is one that was told here and has not been sent on.
type waiting[M any] struct {
	extension.Held[M]
	until time.Time // when it expires, see [Expire]; zero for never
}

// keepWaiting notes that a message begins to wait.
func (m *manager[M]) keepWaiting(msg M) waiting[M] {
	m.makeRoom()
	return waiting[M]{Held: extension.Hold(m.ctx.System(), msg), until: m.machine.set.expiry(time.Now())}
}

// makeRoom drops the requests of asks that have ended where there is no room for another message:
// none that somebody waits for gives way to them.
func (m *manager[M]) makeRoom() {
	ended := func(w waiting[M]) bool { return w.Withdrawn() }
	gone := m.mail.sweep(ended)
	if m.reliable.out != nil {
		gone = append(gone, m.reliable.out.sweep(ended)...)
	}
	for _, w := range gone {
		m.withdraw(w.Message, actor.ErrWithdrawn)
	}
}

// passes reports whether a message that has waited is to be sent on: it has not expired, and is
// no ask that has ended. Else it is a dead letter.
func (m *manager[M]) passes(w waiting[M]) bool {
	var reason error
	switch {
	case w.expired(time.Now()):
		reason = ErrHeldTooLong
	case !w.Pass():
		reason = actor.ErrWithdrawn
	default:
		return true
	}
	m.withdraw(w.Message, reason)
	return false
}

// withdraw makes a dead letter of a message that has waited and is not sent on.
func (m *manager[M]) withdraw(msg M, reason error) {
	m.deadLetter(msg, reason)
	if m.reliable.out != nil {
		m.publish(Refused{Name: m.name, Message: msg, Reason: reason})
	}
}

func (w waiting[M]) expired(now time.Time) bool { return !w.until.IsZero() && !now.Before(w.until) }

// expiry returns when a message expires that begins to wait now; zero is never.
func (s *settings) expiry(now time.Time) time.Time {
	if s.expire == 0 {
		return time.Time{}
	}
	return now.Add(s.expire)
}

// expire makes dead letters of what has waited for too long.
func (m *manager[M]) expire(now time.Time) {
	if m.machine.set.expire == 0 {
		return
	}
	gone := func(w waiting[M]) bool { return w.expired(now) }
	expired := m.mail.remove(gone)
	if m.reliable.out != nil {
		expired = append(expired, m.reliable.out.remove(gone)...)
	}
	for _, w := range expired {
		m.withdraw(w.Message, ErrHeldTooLong)
	}
	for _, p := range m.guests.remove(func(w waiting[extension.Payload]) bool { return w.expired(now) }) {
		m.refuse(p, ErrHeldTooLong)
	}
}

// nextExpiry returns when the next message expires; zero when none does.
func (m *manager[M]) nextExpiry() (next time.Time) {
	if m.machine.set.expire == 0 {
		return time.Time{}
	}
	times := m.guests.expiries()
	first := m.mail.first()
	if m.reliable.out != nil {
		first = append(first, m.reliable.out.first()...)
	}
	for _, w := range first {
		times = append(times, w.until)
	}
	for _, t := range times {
		if next.IsZero() || t.Before(next) {
			next = t
		}
	}
	return next
}

// awaitExpiry sees to it that the manager wakes up when a message expires.
func (m *manager[M]) awaitExpiry() {
	if m.machine.set.expire > 0 {
		m.settle(time.Now())
	}
}
