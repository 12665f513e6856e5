package actor

import (
	"github.com/understudy-go/understudy/internal/guard"

	"github.com/understudy-go/understudy/internal/payload"
)

// An adapter is a ref through which an actor takes messages of another type.
type adapter[T any] struct {
	core
	post   func(msg T, by entrance)
	follow func(read func() (T, bool)) (notify func())
}

// Adapt returns a ref that takes messages of type T for the actor: wrap turns each into
// one of its own. wrap runs inside the actor, so it may use its state; a panic in it is
// told to the actor by the signal [AdaptFailed]. The ref works as long as the actor does, restarts included.
func Adapt[T, M any](ctx *Context[M], wrap func(T) M) ActorRef[T] {
	c := ctx.cell
	c.check("Adapt")
	return newAdapter(c, func(msg T) task[M] { return &adapted[T, M]{msg, wrap} })
}

// Handle returns a ref whose messages go to handle instead of the behavior, in their
// place among the actor's other messages. It is for wrappers that have a protocol of
// their own beside the one of what they wrap; the bound of a mailbox does not count what
// they are told. The ref works for this incarnation only: after a restart what it is told
// becomes dead letters with [ErrStaleHandler].
func Handle[T, M any](ctx *Context[M], handle func(T) Behavior[M]) ActorRef[T] {
	c := ctx.cell
	c.check("Handle")
	epoch := c.epoch
	return newAdapter(c, func(msg T) task[M] { return &handled[T, M]{msg, handle, epoch} })
}

func newAdapter[T, M any](c *cell[M], makeTask func(T) task[M]) ActorRef[T] {
	a := &adapter[T]{core: core{sys: c.sys, uid: c.sys.nextUID(), parent: c.actor(), outside: true}}
	a.impl = a
	a.post = func(msg T, by entrance) { c.post(item[M]{task: makeTask(msg)}, by) }
	a.follow = func(read func() (T, bool)) (notify func()) {
		return follow(c, read, func(c *cell[M], msg T) { makeTask(msg).run(c) })
	}
	return ActorRef[T]{&a.core}
}

func (a *adapter[T]) deliver(msg any, by entrance) {
	if m, ok := payload.As[T](msg); ok {
		a.post(m, by)
		return
	}
	a.sys.deadLetter(&a.core, msg, wrongType[T](msg))
}

type adapted[T, M any] struct {
	msg  T
	wrap func(T) M
}

func (a *adapted[T, M]) run(c *cell[M]) {
	if msg, err := a.adapt(); err == nil {
		c.handleTaskMessage(msg)
	} else {
		c.handleSignal(AdaptFailed{Message: a.msg, Err: err}, err)
	}
}

func (a *adapted[T, M]) adapt() (msg M, err error) {
	return guard.Value(func() M { return a.wrap(a.msg) })
}

func (a *adapted[T, M]) exempt() bool { return false }

func (a *adapted[T, M]) undelivered() (any, bool) { return a.msg, true }

type handled[T, M any] struct {
	msg    T
	handle func(T) Behavior[M]
	epoch  uint32
}

func (h *handled[T, M]) run(c *cell[M]) {
	if h.epoch != c.epoch {
		c.sys.deadLetter(c.actor(), h.msg, ErrStaleHandler)
		return
	}
	if next := h.handle(h.msg); next != nil && !c.become(next) {
		c.unhandled(h.msg)
	}
}

func (h *handled[T, M]) exempt() bool { return true }

func (h *handled[T, M]) undelivered() (any, bool) { return h.msg, true }
