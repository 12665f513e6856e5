package actor

import "errors"

// errResting is the reason for which an actor that is about to rest takes no message.
var errResting = errors.New("the actor is about to rest")

// Finish lets an actor that Spawn has returned end once it has handled the messages that it has. It
// takes no others.
func (*returning) Finish(to AnyRef) {
	c := to.target().impl.(*cell) // Spawn has made it
	c.core.mu.Lock()
	if c.core.flags.has(resting) {
		c.core.mu.Unlock()
		return
	}
	c.rests()
	c.core.mu.Unlock()
	c.enqueue(item{task: farewell{}}, &entrance{})
}

// Rest lets an actor that Spawn has returned end, if it has no message and waits for nothing.
func (*returning) Rest(to AnyRef) {
	to.target().impl.(*cell).signal(systemMsg{kind: sysRest}) // Spawn has made it
}

// Used implements extension.Returning.
func (*returning) Used(of AnyRef) (round uint32, worked bool) {
	c := of.target()
	return c.flags.round(), c.flags.has(inUse)
}

// Resting reports whether an actor that Spawn has returned takes no more messages, and has not
// ended.
func (*returning) Resting(of AnyRef) bool { return of.target().flags.has(resting) }

// rests notes that the actor takes no more messages. core.mu is held.
func (b *inbox) rests() {
	b.core.flags.set(resting)
	b.refit()
}

// rest handles sysRest.
func (c *cell) rest() {
	if c.core.phase != running || c.batched > 0 || c.priorities.size() > 0 || c.awaited > 0 || c.core.childCount() > 0 {
		return
	}
	c.core.mu.Lock()
	idle := c.core.waiting == 0 && !c.core.flags.has(resting)
	if idle {
		c.rests()
	}
	c.core.mu.Unlock()
	if idle {
		c.sayFarewell()
	}
}

// sayFarewell ends the actor, by the last message if its spawner has one.
func (c *cell) sayFarewell() {
	if last := c.conf.returns.last; last != nil {
		c.box.handle(last)
	} else {
		c.beginStop(nil)
	}
}

// A farewell says farewell when its turn in the mailbox comes.
type farewell struct{ trailing }

func (farewell) run(c *cell) { c.sayFarewell() }

// keeps counts n more things that keep the actor from resting: asks that it waits for, and messages
// in stashes.
func (b *inbox) keeps(n int) {
	if b.conf.returns != nil {
		b.own().awaited += n
	}
}

// useBy is use for a batch; only is its task if that is all. A timer that rings alone does not
// count.
func (b *inbox) useBy(only task) {
	switch only.(type) {
	case nil, *described, *request:
		b.use()
	}
}

// use notes that the actor handles messages, if somebody asks for it.
func (b *inbox) use() {
	if r := b.conf.returns; r != nil {
		b.core.flags.note(inUse, r.rounds.Load())
	}
}

// Awaits implements extension.Awaits.
func (x *inside) Awaits(n int) {
	x.cell.core.check("Awaits")
	x.cell.core.outermost().keeps(n)
}
