package actor

import (
	"fmt"
	"reflect"
)

// handler is a MessageHandler for the type of the child's messages.
func (x *inside) Bypass(handler any, child AnyRef) {
	c, to := x.cell, child.target()
	c.core.check("Bypass")
	c.closeBypass()
	if to == nil || !c.conf.box.plain() || c.inner() != nil {
		return
	}
	if !to.ofCell() || to.parent != &c.core {
		panic(fmt.Sprintf("actor: %s cannot bypass to %q, which is not its child", c.core.path(), child.Path()))
	}
	if of := to.outermost(); of.conf.box.overflow != block { // else a sender would wait while it holds the mutex of the actor
		c.own().bypassing = &bypassRequest{handler, &of.inbox}
	}
}

type bypassRequest struct {
	handler any
	to      *inbox
}

func codeOf(f any) uintptr { return reflect.ValueOf(f).Pointer() }

// The mailbox is empty. core.mu is held.
func (b *inbox) openBypass() {
	if d := b.bypassing; d != nil && !b.core.flags.has(bypassed) && b.core.phase == running && codeOf(b.box.handlers().message) == codeOf(d.handler) {
		// The child lets messages in before senders see the bypass: one that finds it set may tell
		// the child at once. closeBypass goes the other way.
		d.to.core.setInstead(true)
		b.bypass.Store(d.to)
		b.core.flags.set(bypassed)
		b.refit()
	}
}

func (b *inbox) closeBypass() {
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

func (g *guarded) setInstead(instead bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.instead = instead
}
