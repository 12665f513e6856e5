package actor

import (
	"fmt"
	"reflect"
)

// Bypass implements extension.Bypass.
func (x *contextInternals[M]) Bypass(handler MessageHandler[M], child ActorRef[M]) {
	c := x.cell
	c.core.check("Bypass")
	c.closeBypass()
	if child.c == nil || !c.conf.box.plain() || c.outer() != nil {
		return
	}
	to, ok := child.c.impl.(*cell[M])
	if ok && to.senders != nil {
		return // a sender must not wait while it holds the mutex of the actor
	}
	if !ok || to.core.parent != &c.core {
		panic(fmt.Sprintf("actor: %s cannot bypass to %q, which is not its child", c.core.path(), child.Path()))
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
	if d := b.bypassing; d != nil && !b.core.flags.has(bypassed) && b.core.phase == running && same(current, d.handler) {
		d.to.core.setInstead(true)
		b.bypass.Store(d.to)
		b.core.flags.set(bypassed)
		b.refit()
	}
}

// closeBypass ends the bypass: messages come to the actor again.
func (b *inbox[M]) closeBypass() {
	if b.bypassing == nil {
		return
	}
	b.bypassing = nil
	b.core.mu.Lock()
	defer b.core.mu.Unlock()
	b.core.flags.clear(bypassed)
	if to := b.bypass.Swap(nil); to != nil {
		to.core.setInstead(false) // a sender that has seen the bypass, and not told yet, comes to the actor
	}
	b.refit()
}

// setInstead says whether messages to the parent may come to the child.
func (g *guarded) setInstead(instead bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.instead = instead
}

// tellChild is tell for a cell that was bypassed a moment ago. It takes the mutex of the child
// only: a bypass closes under that as well, so the message is either in the mailbox of the child
// before the bypass has closed, or comes to the actor.
func (b *inbox[M]) tellChild(msg M) {
	if to := b.bypass.Load(); to == nil || !to.tellInstead(msg) {
		b.tellAside(msg)
	}
}

// tellInstead is tell for a message to the parent. It returns false if the message must not come
// here, or the mailbox is not plain.
func (b *inbox[M]) tellInstead(msg M) bool {
	if !b.core.mu.TryLock() {
		b.core.lockWithBackoff()
	}
	if !b.core.instead || b.core.dead || !b.core.plain {
		b.core.mu.Unlock()
		return false
	}
	b.putPlain(msg)
	return true
}
