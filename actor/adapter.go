package actor

import (
	"reflect"

	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/payload"
)

// An adapter is a ref through which an actor receives messages of another type.
type adapter[T any] struct {
	core   core
	post   func(msg T, by entrance)
	follow func(read func() (any, bool)) (notify func())
}

// Adapt returns a ref through which the actor receives messages of type T. wrap converts each one
// into a message of type M. wrap runs inside the actor, so it may use its state. If wrap panics,
// the actor gets the signal [AdaptFailed]. The ref remains valid until the actor ends, and survives
// restarts.
func Adapt[T, M any](ctx *Context[M], wrap func(T) M) ActorRef[T] {
	c := ctx.cell
	c.core.check("Adapt")
	return newAdapter(c, func(msg T) task[M] { return &adapted[T, M]{msg, wrap} })
}

// Handler implements extension.Handle. accept returns why a message has the wrong type, if so.
func (x *contextInternals[M]) Handler(accept func(msg any) error, handle func(msg any) Behavior[M]) any {
	c := x.cell
	c.core.check("Handle")
	h := &handler[M]{
		core: core{sys: c.core.sys, uid: c.core.sys.nextUID(), parent: c.core.actor(), outside: true},
		to:   c, epoch: c.epoch, accept: accept, handle: handle,
	}
	h.core.impl = h
	return &h.core
}

// A handler is a ref whose messages go to a function instead of the behavior.
type handler[M any] struct {
	core   core
	to     *cell[M]
	epoch  uint32 // the incarnation to which it belongs
	accept func(msg any) error
	handle func(msg any) Behavior[M]
}

func (h *handler[M]) deliver(msg any, by entrance) {
	if err := h.accept(msg); err != nil {
		h.core.sys.deadLetter(&h.core, msg, err)
		return
	}
	h.to.post(item[M]{task: &handled[M]{msg, h}}, by)
}

func newAdapter[T, M any](c *cell[M], makeTask func(T) task[M]) ActorRef[T] {
	a := &adapter[T]{core: core{sys: c.core.sys, uid: c.core.sys.nextUID(), parent: c.core.actor(), outside: true}}
	a.core.impl = a
	a.post = func(msg T, by entrance) { c.post(item[M]{task: makeTask(msg)}, by) }
	a.follow = func(read func() (any, bool)) (notify func()) {
		return follow(c, read, func(msg any) {
			if m, ok := payload.As[T](msg); ok { // the ref is of T
				makeTask(m).run(c)
			}
		})
	}
	return ActorRef[T]{&a.core}
}

func (a *adapter[T]) deliver(msg any, by entrance) {
	if m, ok := payload.As[T](msg); ok {
		a.post(m, by)
		return
	}
	a.core.sys.deadLetter(&a.core, msg, wrongType[T](msg))
}

func (*adapter[T]) messageType() reflect.Type { return reflect.TypeFor[T]() }

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

type handled[M any] struct {
	msg any
	by  *handler[M]
}

func (h *handled[M]) run(c *cell[M]) {
	if h.by.epoch != c.epoch {
		c.core.sys.deadLetter(c.core.actor(), h.msg, ErrStaleHandler)
		return
	}
	if next := h.by.handle(h.msg); next != nil && !c.become(next) {
		c.unhandled(h.msg)
	}
}

func (h *handled[M]) exempt() bool { return true }

func (h *handled[M]) undelivered() (any, bool) { return h.msg, true }
