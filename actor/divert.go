package actor

import (
	"fmt"
	"reflect"
)

// Bypass implements extension.Bypass.
func (c *cell[M]) Bypass(handler MessageHandler[M], child ActorRef[M]) {
	c.check("Bypass")
	c.undivert()
	if child.c == nil || !c.conf.box.plain() || c.hosted() != nil {
		return
	}
	to, ok := child.c.impl.(*cell[M])
	if ok && to.room != nil {
		return // whoever tells the actor must not wait while its mutex is held
	}
	if !ok || to.parent != &c.core {
		panic(fmt.Sprintf("actor: %s cannot bypass to %q, which is not its child", c.path(), child.Path()))
	}
	c.own().diverting = &diversion[M]{handler, to}
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
