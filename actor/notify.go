package actor

import (
	"fmt"
	"sync/atomic"

	"github.com/understudy-go/understudy/internal/payload"
)

// Notify returns a function that makes handle run inside the actor, in its place among the
// messages. The function may be called from any goroutine and never blocks. Calls while one is
// pending have no further effect: a call signals that there is news, not how much, and handle sees
// everything that was true before any of the calls. handle returns the next behavior; nil means the
// same.
//
// No mailbox is too full for it, and it is no dead letter if the actor ends before. It works until
// the functions given to [Context.Defer] would run, and has no effect afterwards.
func (c *Context[M]) Notify(handle func() Behavior[M]) (notify func()) {
	c.cell.core.check("Notify")
	over := false // owned by the turn
	c.Defer(func() { over = true })
	return newNotify(c.cell, func(c *cell[M]) {
		if over {
			return
		}
		if next := handle(); next != nil {
			c.become(next)
		}
	})
}

// newNotify returns a function that puts a task into the mailbox of the actor, unless the task
// already waits there. The task calls handle.
func newNotify[M any](c *cell[M], handle func(c *cell[M])) (notify func()) {
	n := &notified[M]{handle: handle}
	return func() {
		if n.waits.CompareAndSwap(false, true) {
			c.post(item[M]{task: n}, entrance{})
		}
	}
}

type notified[M any] struct {
	handle func(c *cell[M])
	waits  atomic.Bool
}

func (n *notified[M]) run(c *cell[M]) {
	n.waits.Store(false)
	n.handle(c)
}

func (n *notified[M]) exempt() bool { return true }

func (n *notified[M]) undelivered() (any, bool) { return nil, false }

// TellLatest implements extension.TellLatest.
func (r refInternals[M]) TellLatest(read func() (M, bool)) (notify func()) {
	if r.c == nil || r.c.isRemote() {
		panic(fmt.Sprintf("actor: %q is no actor of this process and cannot follow what changes here; subscribe it on its own node", r.c.fullPath()))
	}
	to, ok := r.c.impl.(latestTeller)
	if !ok { // no actor has this path
		return func() {}
	}
	return to.tellLatest(func() (any, bool) { return read() })
}

// A latestTeller can be sent the newest of some values.
type latestTeller interface {
	tellLatest(read func() (any, bool)) (notify func())
}

func (c *cell[M]) tellLatest(read func() (any, bool)) (notify func()) {
	return follow(c, read, func(msg any) {
		if m, ok := payload.As[M](msg); ok { // the ref is of M
			c.handleTaskMessage(m)
		}
	})
}

func (a *adapter[T]) tellLatest(read func() (any, bool)) (notify func()) { return a.follow(read) }

func (h *handler[M]) tellLatest(read func() (any, bool)) (notify func()) {
	return follow(h.to, read, func(msg any) { (&handled[M]{msg, h}).run(h.to) })
}

// follow returns a function after which handle gets what read returns then, inside the actor.
func follow[M any](c *cell[M], read func() (any, bool), handle func(msg any)) (notify func()) {
	return newNotify(c, func(*cell[M]) {
		if msg, fresh := read(); fresh {
			handle(msg)
		}
	})
}
