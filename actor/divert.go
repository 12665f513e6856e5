package actor

import (
	"fmt"
	"reflect"
)

// Divert says that handler, the actor's own at present, does nothing but tell each message
// to child. From the moment on when nothing else waits in the actor's mailbox, what it is
// told goes straight into the child's, as one hop costs less than two. Messages of one
// sender stay in order: one of [ActorRef.Deliver], and what adapters bring, comes to the
// actor, and so does what is told later, until nothing waits again.
//
// That ends with Divert of the zero ActorRef, after which whatever was diverted is in the
// child's mailbox: it comes before anything that the actor tells it then, and before its
// end by [Context.Drain]. It ends by itself when the child has ended, and when the actor
// restarts, stops, or gets another handler.
//
// It does nothing when the actor's handler is not this very function but one that wraps
// it, or its mailbox is bounded or has priorities: then messages pass through it as ever. It panics when
// child is no child.
func (c *Context[M]) Divert(handler MessageHandler[M], child ActorRef[M]) {
	own := c.cell
	own.check("Divert")
	own.undivert()
	if child.c == nil || !own.conf.box.plain() || own.hosted() != nil {
		return
	}
	to, ok := child.c.impl.(*cell[M])
	if ok && to.room != nil {
		return // whoever tells the actor must not wait while its mutex is held
	}
	if !ok || to.parent != &own.core {
		panic(fmt.Sprintf("actor: %s cannot divert to %q, which is not its child", own.path(), child.Path()))
	}
	own.own().diverting = &diversion[M]{handler, to}
}

// A diversion is what a cell has been told by Divert.
type diversion[M any] struct {
	handler MessageHandler[M]
	to      *cell[M]
}

// divert opens the detour, if there is to be one; nothing waits. core.mu is held.
func (c *cell[M]) divert() {
	if d := c.diverting; d != nil && !c.diverted && c.phase == running && same(c.onMessage, d.handler) {
		c.detour, c.diverted = d.to, true
		c.refit()
	}
}

// same reports whether two handlers run the same code.
func same[M any](a, b MessageHandler[M]) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}

// undivert lets messages come to the actor again.
func (c *cell[M]) undivert() {
	if c.diverting == nil {
		return
	}
	c.diverting = nil
	c.mu.Lock()
	defer c.mu.Unlock()
	c.detour, c.diverted = nil, false
	c.refit()
}
