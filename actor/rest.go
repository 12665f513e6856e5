package actor

import "errors"

// errResting is the reason for which an actor that is about to rest takes no message.
var errResting = errors.New("the actor is about to rest")

// Finish lets an actor that Spawn has returned end once it has handled the messages that it has. It
// takes no others.
func (r *returning[M]) Finish(to ActorRef[M]) {
	c := to.c.impl.(*cell[M]) // Spawn has made it
	c.core.mu.Lock()
	if c.core.flags.has(resting) {
		c.core.mu.Unlock()
		return
	}
	rests(&c.inbox)
	c.core.mu.Unlock()
	c.enqueue(item[M]{task: &farewell[M]{}}, entrance{})
}

// Rest lets an actor that Spawn has returned end, if it has no message and waits for nothing.
func (r *returning[M]) Rest(to ActorRef[M]) {
	to.c.impl.(*cell[M]).signal(systemMsg{kind: sysRest}) // Spawn has made it
}

// Used implements extension.Returning.
func (r *returning[M]) Used(of ActorRef[M]) (round uint32, worked bool) {
	return of.c.flags.round(), of.c.flags.has(inUse)
}

// Resting reports whether an actor that Spawn has returned takes no more messages, and has not
// ended.
func (r *returning[M]) Resting(of ActorRef[M]) bool {
	return of.c.flags.has(resting)
}

// rests notes that the actor takes no more messages. core.mu is held.
func rests[M any](b *inbox[M]) {
	b.core.flags.set(resting)
	b.refit()
}

// rest handles sysRest.
func rest[M any](c *cell[M]) {
	if c.core.phase != running || c.batch.size > 0 || c.priorities.size() > 0 || c.awaited > 0 || c.core.childCount() > 0 {
		return
	}
	c.core.mu.Lock()
	idle := c.queue.size() == 0 && !c.core.flags.has(resting)
	if idle {
		rests(&c.inbox)
	}
	c.core.mu.Unlock()
	if idle {
		sayFarewell(c)
	}
}

// sayFarewell ends the actor, by the last message if its spawner has one.
func sayFarewell[M any](c *cell[M]) {
	if last := c.conf.returns.last; last != nil {
		c.handleMessage(*last)
	} else {
		c.beginStop(nil)
	}
}

// A farewell says farewell when its turn in the mailbox comes.
type farewell[M any] struct{}

func (*farewell[M]) run(c *cell[M]) { sayFarewell(c) }

func (*farewell[M]) exempt() bool { return true }

func (*farewell[M]) follows() bool { return true }

func (*farewell[M]) undelivered() (any, bool) { return nil, false }

// keeps counts n more things that keep the actor from resting: asks that it waits for, and messages
// in stashes.
func (b *inbox[M]) keeps(n int) {
	if b.conf.returns != nil {
		b.own().awaited += n
	}
}

// useBy is use for a batch that is not empty. A timer that rings alone does not count.
func useBy[M any](b *inbox[M], batch *chain[M]) {
	if b.conf.returns == nil {
		return
	}
	if k := batch.head; len(k.tasks) > 0 && batch.size == 1 {
		if _, message := k.tasks[k.next].(*described[M]); !message {
			return
		}
	}
	use(b)
}

// use notes that the actor handles messages, if somebody asks for it.
func use[M any](b *inbox[M]) {
	if r := b.conf.returns; r != nil {
		b.core.flags.note(inUse, r.rounds.Load())
	}
}

// Awaits implements extension.Awaits.
func (x *contextInternals[M]) Awaits(n int) {
	x.cell.core.check("Awaits")
	x.cell.core.outermost().keeps(n)
}
