package actor

import "sync/atomic"

// Notify returns a function that makes handle run inside the actor, in its place among the
// messages. The function may be called from any goroutine and never blocks. Calls while one is
// pending have no further effect: a call signals that there is news, not how much, and handle sees
// everything that was true before any of the calls. handle returns the next behavior; nil means the
// same.
//
// No mailbox is too full for it, and it is no dead letter if the actor ends before. It works until
// the functions given to [Context.Defer] would run, and has no effect afterwards.
func (c *Context[M]) Notify(handle func() Behavior[M]) (notify func()) {
	cell := c.cell
	cell.check("Notify")
	n := &notified[M]{handle: handle}
	c.Defer(func() { n.over = true })
	return func() {
		if n.waits.CompareAndSwap(false, true) {
			cell.post(item[M]{task: n}, entrance{})
		}
	}
}

type notified[M any] struct {
	handle func() Behavior[M]
	waits  atomic.Bool
	over   bool // owned by the turn
}

func (n *notified[M]) run(c *cell[M]) {
	n.waits.Store(false)
	if n.over {
		return
	}
	if next := n.handle(); next != nil {
		c.become(next)
	}
}

func (n *notified[M]) exempt() bool { return true }

func (n *notified[M]) undelivered() (any, bool) { return nil, false }
