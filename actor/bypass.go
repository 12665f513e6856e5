package actor

import (
	"fmt"
	"reflect"
)

// Bypass implements extension.Bypass.
func (x contextInternals[M]) Bypass(handler MessageHandler[M], child ActorRef[M]) {
	c := x.cell
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
	c.own().bypassing = &bypassRequest[M]{handler, &to.inbox}
}

// A bypassRequest is what a cell was asked by Bypass.
type bypassRequest[M any] struct {
	handler MessageHandler[M]
	to      *inbox[M]
}

// same reports whether two handlers run the same code.
func same[M any](a, b MessageHandler[M]) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}

// openBypass starts the bypass, if one was requested for the current handler. The mailbox is empty.
// core.mu is held.
func (b *inbox[M]) openBypass(current MessageHandler[M]) {
	if d := b.bypassing; d != nil && !b.bypassed && b.phase == running && same(current, d.handler) {
		b.bypass, b.bypassed = d.to, true
		b.refit()
	}
}

// closeBypass ends the bypass: messages come to the actor again.
func (b *inbox[M]) closeBypass() {
	if b.bypassing == nil {
		return
	}
	b.bypassing = nil
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bypass, b.bypassed = nil, false
	b.refit()
}
