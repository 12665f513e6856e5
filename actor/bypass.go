package actor

import (
	"fmt"
	"reflect"
)

// Bypass implements extension.Bypass.
func (c *cell[M]) Bypass(handler MessageHandler[M], child ActorRef[M]) {
	c.check("Bypass")
	c.closeBypass()
	if child.c == nil || !c.conf.box.plain() || c.outer() != nil {
		return
	}
	to, ok := child.c.impl.(*cell[M])
	if ok && to.senders != nil {
		return // a sender must not wait while it holds the mutex of the actor
	}
	if !ok || to.parent != &c.core {
		panic(fmt.Sprintf("actor: %s cannot bypass to %q, which is not its child", c.path(), child.Path()))
	}
	c.own().bypassing = &bypassRequest[M]{handler, to}
}

// A bypassRequest is what a cell was asked by Bypass.
type bypassRequest[M any] struct {
	handler MessageHandler[M]
	to      *cell[M]
}

// openBypass starts the bypass, if one was requested. The mailbox is empty. core.mu is held.
func (c *cell[M]) openBypass() {
	if d := c.bypassing; d != nil && !c.bypassed && c.phase == running && same(c.onMessage, d.handler) {
		c.bypass, c.bypassed = d.to, true
		c.refit()
	}
}

// same reports whether two handlers run the same code.
func same[M any](a, b MessageHandler[M]) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}

// closeBypass ends the bypass: messages come to the actor again.
func (c *cell[M]) closeBypass() {
	if c.bypassing == nil {
		return
	}
	c.bypassing = nil
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bypass, c.bypassed = nil, false
	c.refit()
}
