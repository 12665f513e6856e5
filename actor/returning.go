package actor

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/understudy-go/understudy/internal/metadata"
)

type returning struct {
	parent *core
	conf   config
	typed  sync.Once
	last   any // after which each ends; nil: it is stopped
	rounds *atomic.Uint32
	owner  returnsOwner
}

type returnsOwner interface {
	Begun(name string) error
	Ended(name string, rest []any, with []metadata.Metadata, failure error)
	Late(name string, msg any, m metadata.Metadata)
}

func (r refInternals) Returning(owner interface {
	Begun(name string) error
	Ended(name string, rest []any, with []metadata.Metadata, failure error)
	Late(name string, msg any, m metadata.Metadata)
}, last any, rounds *atomic.Uint32, opts []SpawnOption,
) any {
	all := &returning{parent: r.c.actor(), last: last, rounds: rounds, owner: owner}
	all.conf = *configure(&all.conf, opts)
	all.conf.returns = all
	return all
}

func (r *returning) Parent() Spawner { return r.parent }

func (r *returning) apply(*spawnConfig) { panic("actor: a Returning is the only option of a Spawn") }

func (r *returning) config(of *kinded) *config {
	r.typed.Do(func() { r.conf.kinded = of })
	return &r.conf
}

// spawn returns nil if the parent is stopping or has ended.
func (r *returning) spawn(c *cell) *core {
	checkName(c.core.label)
	c.core.flags.note(0, r.rounds.Load())
	c.tally.counts = c.conf.counts(c.core.sys, c.core.uid, false)
	if !r.parent.addNamesake(&c.core) {
		return nil
	}
	c.begin()
	return &c.core
}

func (r *returning) Ending() bool { return r.parent.isClosed() }

// Offer is TellNoWait, unless the actor has ended.
func (r *returning) Offer(to AnyRef, msg any, m metadata.Metadata) (taken bool) {
	c := to.target().impl.(*cell) // Spawn has made it
	copied, err := carried(&c.core, msg)
	if err != nil {
		c.core.sys.deadLetter(&c.core, msg, err)
		return true
	}
	lost, at, reason := c.box.offer(copied, entrance{parked: true, metadata: m})
	if comesLate(reason) {
		return false
	}
	if reason != nil {
		at.reportUndelivered(lost, reason)
	}
	return true
}

// The spawner then gets what the actor has not handled, also from stashes.
func (b *inbox) returnsRest() bool {
	r := b.conf.returns
	return r != nil && b.core.phase == stopped && (b.core.flags.has(resting) || r.parent.isClosed())
}

func (x *inside) PutBack(msgs []any, with []metadata.Metadata) bool {
	x.cell.core.check("PutBack")
	if !x.cell.core.outermost().returnsRest() {
		return false
	}
	items := make([]item, len(msgs))
	for i, msg := range msgs {
		items[i] = (&item{msg: msg}).with(with[i])
	}
	if len(items) > 0 {
		x.cell.putBack(items)
	}
	return true
}

func (b *inbox) giveBack(all []item) {
	var rest []any
	var with []metadata.Metadata
	for _, it := range all {
		if plain := it.plain(); plain.task == nil {
			rest, with = append(rest, plain.msg), append(with, it.metadata())
		} else {
			b.reportUndelivered(it, ErrTerminated)
		}
	}
	b.conf.returns.owner.Ended(b.core.label, rest, with, b.core.cause())
}

// late returns false for what is no message, and for actors whose messages are not returned.
func (b *inbox) late(it item, reason error) bool {
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

func comesLate(reason error) bool {
	return errors.Is(reason, ErrTerminated) || errors.Is(reason, errResting)
}
