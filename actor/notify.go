package actor

import (
	"fmt"
	"sync/atomic"
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
	return c.in.notify(func() any { return boxedBehavior(handle()) })
}

func (x *inside) notify(handle func() any) (notify func()) {
	x.cell.core.check("Notify")
	over := false // owned by the turn
	x.later(func() { over = true })
	return newNotify(x.cell, func() {
		if over {
			return
		}
		x.cell.core.inTask = false // nothing waits for the end of this task, so handle may pause
		if next := handle(); next != nil {
			x.cell.box.become(next, nil)
		}
	})
}

// The task is in the mailbox once at a time.
func newNotify(c *cell, handle func()) (notify func()) {
	n := &notified{handle: handle}
	return func() {
		if n.waits.CompareAndSwap(false, true) {
			c.post(item{task: n}, entrance{})
		}
	}
}

type notified struct {
	unsent
	handle func()
	waits  atomic.Bool
}

func (n *notified) run(*cell) {
	n.waits.Store(false)
	n.handle()
}

func (r refInternals) TellLatest(read func() (any, bool)) (notify func()) {
	if r.c == nil || r.c.isRemote() {
		panic(fmt.Sprintf("actor: %q is no actor of this process and cannot follow what changes here; subscribe it on its own node", r.c.fullPath()))
	}
	to, ok := r.c.impl.(interface {
		latest(msg any) // handles it, inside the actor
		inActor() *cell
	})
	if !ok { // no actor has this path
		return func() {}
	}
	return newNotify(to.inActor(), func() {
		if msg, fresh := read(); fresh {
			to.latest(msg)
		}
	})
}

func (c *cell) inActor() *cell { return c }

func (c *cell) latest(msg any) { c.handleTaskMessage(msg) }
