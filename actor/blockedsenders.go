package actor

import (
	"container/list"
	"context"
	"sync/atomic"
	"time"
)

// A room is the line of messages for which a mailbox that blocks has no place yet. Behind some
// of them a goroutine waits; others are parked, as the goroutine that told them must not wait. The mutex
// of the core guards it, but for at.
type blockedSenders[M any] struct {
	line   list.List // of *waiter[M], the first comes next
	parked int       // how many of line are parked
	bytes  int       // of those, as encoded
	timer  *time.Timer
	closed bool          // the actor is to stop: no goroutine waits any more
	at     atomic.Uint64 // which goroutine the actor's turn is in; 0: none
}

// A waiter is a message that has no place yet.
type waiter[M any] struct {
	item   item[M]
	until  time.Time     // then it is a dead letter; zero for what no bound counts
	done   chan struct{} // closed when it is decided; nil for what is parked
	reason error         // that it will never have a place, if any; not written to after done
	size   int           // of what is parked
	lost   func(error)   // of what is parked: called with the reason as well; nil for nobody
}

// An entrance says how a message comes to a mailbox without room, if that blocks.
type entrance struct {
	ctx    context.Context // ends the wait; nil for nothing but the mailbox
	parked bool            // the goroutine that tells it does not wait
	size   int             // of what is parked, as encoded; 0 for unknown
	lost   func(error)     // of what is parked, see waiter
}

// How much is parked for one actor: that many messages, and that many bytes, or one message.
const (
	maxParked      = 10_000
	maxParkedBytes = 16 << 20
)

// await sees that it gets room, and returns why there is none: at once if it is parked, else
// after as long as the mailbox says. core.mu is held, and given back.
func (c *cell[M]) await(it item[M], by entrance) error {
	switch {
	case by.parked:
		defer c.mu.Unlock()
		return c.park(it, by)
	case c.senders.closed:
		c.mu.Unlock()
		return ErrTerminated
	case c.senders.at.Load() == goroutine():
		c.mu.Unlock()
		return ErrMailboxFull // the actor itself would wait for ever
	}
	w := &waiter[M]{item: it, done: make(chan struct{})}
	place := c.queueUp(w)
	c.mu.Unlock()
	if by.ctx == nil {
		<-w.done
		return w.reason
	}
	select {
	case <-w.done:
		return w.reason
	case <-by.ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-w.done:
		return w.reason
	default:
	}
	c.senders.line.Remove(place)
	return ErrMailboxFull
}

// park puts it into the line, unless too much is there. core.mu is held.
func (c *cell[M]) park(it item[M], by entrance) error {
	r := c.senders
	if r.parked >= maxParked || r.parked > 0 && r.bytes+by.size > maxParkedBytes {
		return ErrMailboxFull
	}
	r.parked++
	r.bytes += by.size
	c.queueUp(&waiter[M]{item: it, size: by.size, lost: by.lost})
	return nil
}

// queueUp puts a waiter at the end of the line. core.mu is held.
func (c *cell[M]) queueUp(w *waiter[M]) *list.Element {
	if !w.item.exempt() {
		w.until = time.Now().Add(c.conf.box.patience)
		c.armSenders(c.conf.box.patience)
	}
	return c.senders.line.PushBack(w)
}

// armSenders sees that somebody looks at the line after d, unless somebody will before. core.mu
// is held.
func (c *cell[M]) armSenders(d time.Duration) {
	if c.senders.timer == nil {
		c.senders.timer = time.AfterFunc(d, c.expireSenders)
	}
}

// expireSenders turns away the messages that have waited for as long as the mailbox says. What is parked is a
// dead letter then; for other messages the teller sees to that.
func (c *cell[M]) expireSenders() {
	c.mu.Lock()
	c.senders.timer = nil
	late := c.takeLate(time.Now())
	c.admit()
	c.mu.Unlock()
	for _, w := range late {
		c.reportUndelivered(w.item, ErrMailboxFull)
		if w.lost != nil {
			w.lost(ErrMailboxFull)
		}
	}
}

// takeLate turns away those whose time is over, and returns what of that was parked. core.mu is
// held.
func (c *cell[M]) takeLate(now time.Time) (parked []*waiter[M]) {
	for place := c.senders.line.Front(); place != nil; {
		w, after := waiterAt[M](place), place.Next()
		switch {
		case w.item.exempt():
		case now.Before(w.until):
			c.armSenders(w.until.Sub(now))
			return parked
		default:
			if c.senders.take(place).done == nil {
				parked = append(parked, w)
			} else {
				w.turnAway(ErrMailboxFull)
			}
		}
		place = after
	}
	return parked
}

func waiterAt[M any](place *list.Element) *waiter[M] { return place.Value.(*waiter[M]) } //nolint:forcetypeassert // nothing else is in the line

// take takes one out of the line.
func (r *blockedSenders[M]) take(place *list.Element) *waiter[M] {
	w := waiterAt[M](place)
	r.line.Remove(place)
	if w.parked() {
		r.parked--
		r.bytes -= w.size
	}
	return w
}

// parked reports whether it counts as parked: no goroutine waits, and a bound counts it.
func (w *waiter[M]) parked() bool { return w.done == nil && !w.item.exempt() }

// turnAway tells the goroutine that waits that there will be no place. core.mu is held.
func (w *waiter[M]) turnAway(reason error) {
	w.reason = reason
	close(w.done)
}

// admit lets in the messages that have waited longest, while there is room. core.mu is held.
func (c *cell[M]) admit() {
	if c.senders == nil {
		return
	}
	for place := c.senders.line.Front(); place != nil; place = c.senders.line.Front() {
		if c.queue.full(waiterAt[M](place).item, c.conf.box) {
			return
		}
		w := c.senders.take(place)
		c.queue.push(w.item, c.conf.box, &c.conf.chunks)
		if w.done != nil {
			close(w.done)
		}
	}
	c.senders.disarm()
}

// disarm ends the timer, as nobody is in the line.
func (r *blockedSenders[M]) disarm() {
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
}

// closeToSenders lets nobody wait any more, as the actor is about to end: whoever waits may be
// somebody for whose end the actor waits. What is parked stays, until the end.
func (c *cell[M]) closeToSenders() {
	if c.conf.box.overflow != block {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.senders.closed = true
	for place := c.senders.line.Front(); place != nil; {
		after := place.Next()
		if w := waiterAt[M](place); w.done != nil {
			c.senders.take(place)
			w.turnAway(ErrTerminated)
		}
		place = after
	}
}

// takeParked ends the line, and returns what is parked there. core.mu is held.
func (c *cell[M]) takeParked() (parked []item[M]) {
	if c.conf.box.overflow != block {
		return nil
	}
	for place := c.senders.line.Front(); place != nil; place = c.senders.line.Front() {
		parked = append(parked, c.senders.take(place).item)
	}
	c.senders.disarm()
	return parked
}

// A follower is a task that no bound counts, and that yet must not overtake what was told
// before it.
type follower interface{ follows() bool }

// joinsLine reports whether it has to wait behind those in the line. core.mu is held.
func (c *cell[M]) joinsLine(it item[M]) bool {
	if c.senders == nil || c.senders.line.Len() == 0 || it.task == nil {
		return false
	}
	f, ok := it.task.(follower)
	return ok && f.follows()
}

// enter notes in which goroutine the turn is, for await, and returns it.
func (r *blockedSenders[M]) enter() (at uint64) {
	if r != nil {
		at = goroutine()
		r.at.Store(at)
	}
	return at
}

// leave ends that, unless the next turn has begun already.
func (r *blockedSenders[M]) leave(at uint64) {
	if r != nil {
		r.at.CompareAndSwap(at, 0)
	}
}

// lend returns f, which another goroutine is to call in place of the turn's.
func (r *blockedSenders[M]) lend(f func()) func() {
	if r == nil {
		return f
	}
	return func() {
		lender := r.at.Swap(goroutine())
		defer r.at.Store(lender)
		f()
	}
}
