package actor

import (
	"reflect"

	"github.com/understudy-go/understudy/internal/guard"
)

type adapter struct {
	outlet
	handle  func(msg any) error // inside the actor; the error is a panic of the function given to Adapt
	accepts reflect.Type
}

// Adapt returns a ref through which the actor receives messages of type T. wrap converts each one
// into a message of type M. wrap runs inside the actor, so it may use its state. If wrap panics,
// the actor gets the signal [AdaptFailed]. The ref remains valid until the actor ends, and survives
// restarts. wrap is then still the one of the former incarnation: it should not capture state that
// a restart makes anew.
func Adapt[T, M any](ctx *Context[M], wrap func(T) M) ActorRef[T] {
	c := ctx.in.cell
	c.core.check("Adapt")
	a := &adapter{accepts: reflect.TypeFor[T](), handle: func(msg any) error {
		t, _ := msg.(T) // it has been accepted; a nil is the zero value
		m, err := guard.Value(func() M { return wrap(t) })
		if err == nil {
			handleTask(c, m)
		}
		return err
	}}
	a.outlet = outlet{to: c, accept: wrongType[T], task: func(msg any) task { return &adapted{msg, a} }}
	makeOutside(c, &a.core, a)
	return ActorRef[T]{&a.core}
}

// makeOutside makes made the core of a ref outside of the tree through which the actor receives
// messages.
func makeOutside(c *cell, made *core, impl receiver) {
	made.sys, made.uid, made.parent, made.impl, made.outside = c.core.sys, c.core.sys.nextUID(), c.core.actor(), impl, true
}

// An outlet is a ref outside of the tree whose messages are tasks of an actor.
type outlet struct {
	core   core
	to     *cell
	accept func(msg any) error // why a message has the wrong type
	task   func(msg any) task
}

func (o *outlet) deliver(msg any, by entrance) {
	if err := o.accept(msg); err != nil {
		o.core.sys.deadLetter(&o.core, msg, err)
		return
	}
	o.to.post(item{task: o.task(msg)}, by)
}

func (o *outlet) inActor() *cell { return o.to }

func (o *outlet) latest(msg any) { o.task(msg).run(o.to) }

func (a *adapter) messageType() reflect.Type { return a.accepts }

type adapted struct {
	msg any
	by  *adapter
}

func (a *adapted) run(c *cell) {
	if err := a.by.handle(a.msg); err != nil {
		c.handleSignal(AdaptFailed{Message: a.msg, Err: err}, err)
	}
}

func (a *adapted) exempt() bool { return false }

func (a *adapted) undelivered() (any, bool) { return a.msg, true }

type handler struct {
	outlet
	epoch  uint32            // the incarnation to which it belongs
	handle func(msg any) any // nil means the same
}

// accept returns why a message has the wrong type, if so.
func (x *inside) Handler(accept func(msg any) error, handle func(msg any) any) any {
	x.cell.core.check("Handle")
	h := &handler{epoch: x.cell.epoch, handle: handle}
	h.outlet = outlet{to: x.cell, accept: accept, task: func(msg any) task { return &handled{msg, h} }}
	makeOutside(x.cell, &h.core, h)
	return &h.core
}

type handled struct {
	msg any
	by  *handler
}

func (h *handled) run(c *cell) {
	if h.by.epoch != c.epoch {
		c.core.sys.deadLetter(c.core.actor(), h.msg, ErrStaleHandler)
		return
	}
	if next := h.by.handle(h.msg); next != nil && !c.box.become(next, nil) {
		c.unhandled(h.msg)
	}
}

func (h *handled) exempt() bool { return true }

func (h *handled) undelivered() (any, bool) { return h.msg, true }
