package actor

import (
	"context"
	"time"

	"github.com/understudy-go/understudy/internal/metadata"
)

// A request stands in the place of a task beside the message. It is never run.
type request metadata.Request

func (*request) run(*cell) {}

func (*request) exempt() bool { return false }

func (*request) undelivered() (any, bool) { return nil, false }

func beside(r *metadata.Request) task {
	if r == nil {
		return nil
	}
	return (*request)(r)
}

func (it *item) beside() task {
	if it.request != nil {
		return (*request)(it.request)
	}
	return it.task
}

// A nil result means that the actor handles the request, until its runner has forgotten it.
func take(c *cell, r *metadata.Request) (why error) {
	if !r.Take() {
		return ErrWithdrawn
	}
	run := c.runner.Load() // it has a turn
	now := run.now
	if c.core.sys.scheduler.virtual {
		now = metadata.Now()
	}
	if left, all, ok := r.Left(now); ok && c.backlog.Matters(left, all) && !r.Sealed() {
		now = metadata.Now() // the runner has looked some messages ago
		if left, _, _ = r.Left(now); c.own().backlog.refuses(c, left, all, now) {
			return ErrOverloaded
		}
	}
	if run.failure != nil || run.inHand != nil { // of an earlier request, with which something else has dealt
		run.failure, run.inHand = nil, nil
	}
	run.request.Store(r)
	return nil
}

// A handler that has paused goes on later.
func handledRequest(c *cell) {
	c.runner.Load().request.Store(nil)
	if c.backlog.took != 0 && c.core.phase != paused {
		c.backlog.measure(metadata.Now())
	}
}

func requestOf(c *cell) *metadata.Request {
	if r := c.runner.Load(); r != nil {
		return r.request.Load()
	}
	return nil
}

// Deadline returns when the ask ends whose request the actor is handling; false if it handles
// something else, or a request that is waited for without end. An ask without a deadline of its own
// that a handler makes ends then too. Only handlers of the actor may call Deadline. If the ask is
// on another node, the time that the request took on the way is not counted.
func Deadline[M any](ctx *Context[M]) (at time.Time, ok bool) { return ctx.in.deadline() }

func (x *inside) deadline() (at time.Time, ok bool) {
	x.cell.core.check("Deadline")
	left, ok := leftOf(x.cell)
	if !ok {
		return at, false
	}
	return time.Now().Add(left), true
}

// ctx is its Context, or one that is derived from that, as for a span. The result is nil for a
// goroutine that the handler has begun. owner is the actor to which ctx belongs, or nil.
func handlerOf(ctx context.Context, owner *core) *cell {
	if owner == nil {
		return nil
	}
	if _, own := ctx.(interface{ internals() *inside }); !own && !inTurn() {
		return nil
	}
	c, _ := owner.impl.(*cell)
	return c
}

func leftOf(c *cell) (left time.Duration, ok bool) {
	r := requestOf(c.core.outermost())
	if r == nil {
		return 0, false
	}
	ends, ok := r.Ends()
	return ends - metadata.Now(), ok
}
