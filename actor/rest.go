package actor

import "errors"

var errResting = errors.New("the actor is about to rest")

// Spawn has returned the actor. It ends once it has handled the messages that it has, and takes no
// others.
func (*returning) Finish(to AnyRef) {
	c := to.target().impl.(*cell) // Spawn has made it
	c.core.mu.Lock()
	if c.core.flags.has(resting) {
		c.core.mu.Unlock()
		return
	}
	c.rests()
	c.core.mu.Unlock()
	c.enqueue(item{task: endWhenReached{}}, &entrance{})
}

// Spawn has returned the actor. It ends if it has no message and waits for nothing.
func (*returning) Rest(to AnyRef) {
	to.target().impl.(*cell).signal(systemMsg{kind: sysRest}) // Spawn has made it
}

func (*returning) Used(of AnyRef) (round uint32, worked bool) {
	c := of.target()
	return c.flags.round(), c.flags.has(inUse)
}

// Resting is false once the actor has ended.
func (*returning) Resting(of AnyRef) bool { return of.target().flags.has(resting) }

// core.mu is held.
func (b *inbox) rests() {
	b.core.flags.set(resting)
	b.refit()
}

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
		c.endByLastMessage()
	}
}

// Its spawner may have a last message for it.
func (c *cell) endByLastMessage() {
	if last := c.conf.returns.last; last != nil {
		c.box.handle(last)
	} else {
		c.beginStop(nil)
	}
}

type endWhenReached struct{ trailing }

func (endWhenReached) run(c *cell) { c.endByLastMessage() }

// What keeps an actor from resting: asks that it waits for, and messages in stashes.
func (b *inbox) keeps(n int) {
	if b.conf.returns != nil {
		b.own().awaited += n
	}
}

// only is the task of the batch if that is all. A timer that rings alone does not count.
func (b *inbox) useBy(only task) {
	switch only.(type) {
	case nil, *described, *request:
		b.use()
	}
}

func (b *inbox) use() {
	if r := b.conf.returns; r != nil {
		b.core.flags.note(inUse, r.rounds.Load())
	}
}

func (x *inside) Awaits(n int) {
	x.cell.core.check("Awaits")
	x.cell.core.outermost().keeps(n)
}
