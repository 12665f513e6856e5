package actor

import (
	"container/list"
	"context"
	"sync/atomic"
	"time"

	"github.com/understudy-go/understudy/internal/metadata"
)

// blockedSenders are the messages, in a line, for which a blocking mailbox has no place yet. Behind
// some of them a goroutine waits; the others are parked, because their senders must not wait.
// core.mu guards everything except at.
type blockedSenders struct {
	of     *inbox
	line   list.List // of *waiter, the first comes next
	parked int       // how many waiters are parked
	bytes  int       // their encoded size
	timer  *time.Timer
	closed bool          // the actor is about to stop: no goroutine waits
	at     atomic.Uint64 // the goroutine of the turn; 0 outside a turn
}

type waiter struct {
	item   item
	until  time.Time     // zero if no bound counts it
	done   chan struct{} // closed when its fate is known; nil if it is parked
	reason error         // why it never gets a place, or nil; not written after done is closed
	size   int           // encoded size of a parked message
	lost   func(error)   // of a parked message: also called with the reason; may be nil
}

type entrance struct {
	ctx    context.Context // ends the wait; nil if only the mailbox does
	within time.Duration   // for another node: how long it may wait; 0 if only ctx limits it
	parked bool            // the sender does not wait
	asks   bool            // the sender has to know that the mailbox is full
	size   int32           // encoded size; 0 if unknown
	lost   func(error)     // see waiter

	metadata metadata.Metadata // of the message
}

// The limits of parked messages for one actor; a single message may exceed maxParkedBytes.
const (
	maxParked      = 10_000
	maxParkedBytes = 16 << 20
)

// await returns immediately if the message is parked or refused. The result is why the message got
// no place, or nil. core.mu is held, and released.
func (r *blockedSenders) await(it item, by entrance) error {
	switch {
	case by.parked:
		defer r.of.core.mu.Unlock()
		return r.park(it, by)
	case r.closed:
		r.of.core.mu.Unlock()
		return ErrTerminated
	case r.at.Load() == goroutine():
		r.of.core.mu.Unlock()
		return ErrMailboxFull // the actor would wait for itself
	}
	w := &waiter{item: it, done: make(chan struct{})}
	place := r.push(w)
	r.of.core.mu.Unlock()
	if by.ctx == nil {
		<-w.done
		return w.reason
	}
	select {
	case <-w.done:
		return w.reason
	case <-by.ctx.Done():
	}
	r.of.core.mu.Lock()
	defer r.of.core.mu.Unlock()
	select {
	case <-w.done:
		return w.reason
	default:
	}
	r.line.Remove(place)
	return ErrMailboxFull
}

// core.mu is held.
func (r *blockedSenders) park(it item, by entrance) error {
	if r.parked >= maxParked || r.parked > 0 && r.bytes+int(by.size) > maxParkedBytes {
		return ErrMailboxFull
	}
	r.parked++
	r.bytes += int(by.size)
	r.push(&waiter{item: it, size: int(by.size), lost: by.lost})
	return nil
}

// core.mu is held.
func (r *blockedSenders) push(w *waiter) *list.Element {
	if !w.item.exempt() {
		w.until = time.Now().Add(r.of.conf.box.patience)
		r.arm(r.of.conf.box.patience)
	}
	return r.line.PushBack(w)
}

// core.mu is held.
func (r *blockedSenders) arm(d time.Duration) {
	if r.timer == nil {
		r.timer = time.AfterFunc(d, r.expire)
	}
}

// Parked messages become dead letters; for others the sender reports that.
func (r *blockedSenders) expire() {
	r.of.core.mu.Lock()
	r.timer = nil
	late := r.takeLate(time.Now())
	r.admit()
	r.of.core.mu.Unlock()
	for _, w := range late {
		r.of.reportUndelivered(w.item, ErrMailboxFull)
		if w.lost != nil {
			w.lost(ErrMailboxFull)
		}
	}
}

// Those of parked messages are returned. core.mu is held.
func (r *blockedSenders) takeLate(now time.Time) (parked []*waiter) {
	for place := r.line.Front(); place != nil; {
		w, after := waiterAt(place), place.Next()
		switch {
		case w.item.exempt():
		case now.Before(w.until):
			r.arm(w.until.Sub(now))
			return parked
		default:
			if r.take(place).done == nil {
				parked = append(parked, w)
			} else {
				w.turnAway(ErrMailboxFull)
			}
		}
		place = after
	}
	return parked
}

func waiterAt(place *list.Element) *waiter { return place.Value.(*waiter) } //nolint:forcetypeassert // nothing else is in the line

func (r *blockedSenders) take(place *list.Element) *waiter {
	w := waiterAt(place)
	r.line.Remove(place)
	if w.parked() {
		r.parked--
		r.bytes -= w.size
	}
	return w
}

// No goroutine waits, and the bound counts it.
func (w *waiter) parked() bool { return w.done == nil && !w.item.exempt() }

// core.mu is held.
func (w *waiter) turnAway(reason error) {
	w.reason = reason
	close(w.done)
}

// core.mu is held.
func (r *blockedSenders) admit() {
	if r == nil {
		return
	}
	for place := r.line.Front(); place != nil; place = r.line.Front() {
		if r.of.full(waiterAt(place).item) {
			return
		}
		w := r.take(place)
		r.of.box.push(w.item)
		if w.done != nil {
			close(w.done)
		}
	}
	r.disarm()
}

func (r *blockedSenders) disarm() {
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
}

// close ends the waits of goroutines, as the actor is about to end and may itself wait for
// the end of one of them. Parked messages remain until the end.
func (r *blockedSenders) close() {
	if r == nil {
		return
	}
	r.of.core.mu.Lock()
	defer r.of.core.mu.Unlock()
	r.closed = true
	for place := r.line.Front(); place != nil; {
		after := place.Next()
		if w := waiterAt(place); w.done != nil {
			r.take(place)
			w.turnAway(ErrTerminated)
		}
		place = after
	}
}

// core.mu is held.
func (r *blockedSenders) takeParked() (parked []item) {
	if r == nil {
		return nil
	}
	for place := r.line.Front(); place != nil; place = r.line.Front() {
		parked = append(parked, r.take(place).item)
	}
	r.disarm()
	return parked
}

// core.mu is held.
func (r *blockedSenders) isBefore(it item) bool {
	if r == nil || r.line.Len() == 0 || it.task == nil {
		return false
	}
	return it.follows()
}

// await compares it with the goroutine that waits.
func (r *blockedSenders) enter() (at uint64) {
	if r != nil {
		at = goroutine()
		r.at.Store(at)
	}
	return at
}

// The next turn may already have begun.
func (r *blockedSenders) leave(at uint64) {
	if r != nil {
		r.at.CompareAndSwap(at, 0)
	}
}

// Another goroutine runs f in place of the turn's.
func (r *blockedSenders) lend(f func()) func() {
	if r == nil {
		return f
	}
	return func() {
		lender := r.at.Swap(goroutine())
		defer r.at.Store(lender)
		f()
	}
}
