package actor

import (
	"slices"
	"sync/atomic"
	"time"
)

// A room has those who wait to tell something to an actor whose mailbox blocks. The mutex
// of the core guards it, but for at.
type room[M any] struct {
	waiting []*waiter[M]
	at      atomic.Uint64 // which goroutine the actor's turn is in; 0: none
}

// A waiter is a tell that has no room yet.
type waiter[M any] struct {
	item   item[M]
	reason error         // that it will never have, if any
	done   chan struct{} // closed when it is decided; reason is not written to any more
}

// await waits for room for it, for as long as the mailbox says, and returns why there was
// none. core.mu is held, and given back.
func (c *cell[M]) await(it item[M]) error {
	if c.room.at.Load() == goroutine() {
		c.mu.Unlock()
		return ErrMailboxFull // the actor itself would wait for ever
	}
	w := &waiter[M]{item: it, done: make(chan struct{})}
	c.room.waiting = append(c.room.waiting, w)
	c.mu.Unlock()
	timer := time.NewTimer(c.conf.box.patience)
	defer timer.Stop()
	select {
	case <-w.done:
		return w.reason
	case <-timer.C:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.Index(c.room.waiting, w); i >= 0 {
		c.room.waiting = slices.Delete(c.room.waiting, i, i+1)
		return ErrMailboxFull
	}
	return w.reason
}

// admit lets in who has waited longest, if there is room. core.mu is held.
func (c *cell[M]) admit() {
	if c.room == nil {
		return
	}
	for len(c.room.waiting) > 0 && !c.queue.full(c.room.waiting[0].item, c.conf.box) {
		first := c.room.waiting[0]
		c.room.waiting = slices.Delete(c.room.waiting, 0, 1)
		c.queue.push(first.item, c.conf.box, &c.conf.chunks)
		close(first.done)
	}
}

// turnAway tells all who wait that the actor has ended. core.mu is held.
func (c *cell[M]) turnAway() {
	if c.room == nil {
		return
	}
	for _, w := range c.room.waiting {
		w.reason = ErrTerminated
		close(w.done)
	}
	c.room.waiting = nil
}

// enter notes in which goroutine the turn is, for await, and returns it.
func (r *room[M]) enter() (at uint64) {
	if r != nil {
		at = goroutine()
		r.at.Store(at)
	}
	return at
}

// leave ends that, unless the next turn has begun already.
func (r *room[M]) leave(at uint64) {
	if r != nil {
		r.at.CompareAndSwap(at, 0)
	}
}

// lend returns f, which another goroutine is to call in place of the turn's.
func (r *room[M]) lend(f func()) func() {
	if r == nil {
		return f
	}
	return func() {
		lender := r.at.Swap(goroutine())
		defer r.at.Store(lender)
		f()
	}
}
