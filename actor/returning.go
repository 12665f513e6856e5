package actor

import (
	"errors"
	"sync/atomic"

	"github.com/understudy-go/understudy/internal/metadata"
)

// A returning spawns actors whose messages are not lost when they end; see extension.Returning.
type returning[M any] struct {
	parent *core
	conf   config[M] // shared by all
	last   *M        // after which each ends; nil: it is stopped
	rounds *atomic.Uint32
	owner  interface {
		Ended(name string, rest []M, with []metadata.Metadata, failure error)
		Late(name string, msg M, m metadata.Metadata)
	}
}

// Returning implements extension.NewReturning, and returns an extension.Returning.
func (behaviorInternals[M]) Returning(parent AnyRef, owner interface {
	Ended(name string, rest []M, with []metadata.Metadata, failure error)
	Late(name string, msg M, m metadata.Metadata)
}, last *M, rounds *atomic.Uint32, opts []SpawnOption,
) any {
	r := &returning[M]{parent: parent.target(), conf: *configure[M](opts), last: last, rounds: rounds, owner: owner}
	r.conf.returns = r
	return r
}

// Spawn spawns an actor.
func (r *returning[M]) Spawn(b Behavior[M], name string) ActorRef[M] {
	checkName(name)
	c := newCell(r.parent, b, name, &r.conf) // the turn of the parent owns what observes its children
	c.core.flags.note(0, r.rounds.Load())
	c.tally.counts = c.conf.counts(c.core.sys, c.core.uid, false)
	if !r.parent.addNamesake(&c.core) {
		return ActorRef[M]{}
	}
	return begin(c)
}

// Ending reports whether the parent is stopping or has ended.
func (r *returning[M]) Ending() bool { return r.parent.isClosed() }

// Offer is TellNoWait for an actor that Spawn has returned, unless that has ended.
func (r *returning[M]) Offer(to ActorRef[M], msg M, m metadata.Metadata) (taken bool) {
	c := to.c.impl.(*cell[M]) // Spawn has made it
	if m.IsEmpty() && c.tellKnown(msg) {
		return true
	}
	copied, err := carried(to.c, msg)
	if err != nil {
		c.core.sys.deadLetter(&c.core, msg, err)
		return true
	}
	lost, at, reason := c.put(item[M]{msg: copied}, entrance{parked: true, metadata: m})
	if comesLate(reason) {
		return false
	}
	if reason != nil {
		at.reportUndelivered(lost, reason)
	}
	return true
}

// returnsRest reports whether the actor ends because its spawner wanted that, which then gets what
// the actor has not handled, also from stashes.
func (b *inbox[M]) returnsRest() bool {
	r := b.conf.returns
	return r != nil && b.core.phase == stopped && (b.core.flags.has(resting) || r.parent.isClosed())
}

// PutBack implements extension.PutBack.
func (x *contextInternals[M]) PutBack(msgs []M) bool {
	x.cell.core.check("PutBack")
	if !x.cell.core.outermost().returnsRest() {
		return false
	}
	items := make([]item[M], len(msgs))
	for i, msg := range msgs {
		items[i].msg = msg
	}
	if len(items) > 0 {
		x.cell.putBack(items)
	}
	return true
}

// giveBack returns the messages that the actor has not handled.
func giveBack[M any](c *cell[M], all []item[M]) {
	var rest []M
	var with []metadata.Metadata
	for _, it := range all {
		if plain := it.plain(); plain.task == nil {
			rest, with = append(rest, plain.msg), append(with, it.metadata())
		} else {
			c.reportUndelivered(it, ErrTerminated)
		}
	}
	c.conf.returns.owner.Ended(c.core.label, rest, with, c.core.cause())
}

// late returns a message that came after the end. It returns false for what is no message, and for
// actors whose messages are not returned.
func late[M any](b *inbox[M], it item[M], reason error) bool {
	r := b.conf.returns
	if r == nil || !comesLate(reason) {
		return false
	}
	plain := it.plain()
	if plain.task != nil {
		return false
	}
	r.owner.Late(b.core.label, plain.msg, it.metadata())
	return true
}

// comesLate reports whether a message was not taken because its actor has ended, or is about to.
func comesLate(reason error) bool {
	return errors.Is(reason, ErrTerminated) || errors.Is(reason, errResting)
}

// tellKnown is tell for a message that must not come here once the actor has ended. It returns
// false then, and for a mailbox that is not plain.
func (b *inbox[M]) tellKnown(msg M) bool {
	if !b.core.mu.TryLock() {
		b.core.lockWithBackoff()
	}
	if b.core.dead || !b.core.plain {
		b.core.mu.Unlock()
		return false
	}
	b.putPlain(msg)
	return true
}
