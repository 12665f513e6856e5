package actor

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/internal/guard"
)

// A Spawner can have children. It is a [*System], a type that embeds one, or the [*Context] of an
// actor.
type Spawner interface{ spawnUnder() *core }

// A SpawnOption configures one actor: a [Mailbox], or an option of package extension.
type SpawnOption interface{ apply(c *spawnConfig) }

type spawnOption func(*spawnConfig)

func (o spawnOption) apply(c *spawnConfig) { o(c) }

type spawnConfig struct {
	box       Mailbox
	ctx       context.Context
	admission func() error
	kind      string // "" is the kind of the message type
}

// checkAdmission calls the admission check; a panic counts as an error.
func (c *spawnConfig) checkAdmission() error { return guard.Run(c.admission) }

// Spawn starts an actor as a child of parent and returns immediately; b is called inside the new
// actor. If name is empty, the actor gets a unique one. A name has at most 1024 bytes, of letters,
// digits and -_.:~+@. Spawn panics if name is invalid, or if a living child of parent has it. The
// exception is a singleton: a Spawn with its name and its settings returns the ref of the living
// one. If parent is stopping or has ended, b is never called, and the returned ref addresses an
// actor that has ended.
func Spawn[M any](parent Spawner, b Behavior[M], name string, opts ...SpawnOption) ActorRef[M] {
	return spawn(parent.spawnUnder(), b, name, opts)
}

func spawn[M any](parent *core, b Behavior[M], name string, opts []SpawnOption) ActorRef[M] {
	if b == nil {
		panic(fmt.Sprintf("actor: nil behavior for actor %q", name))
	}
	if name != "" {
		checkName(name)
	}
	c := newCell(parent, observed(parent, b), name, configure[M](opts))
	c.tally.counts = c.conf.counts(c.core.sys, c.core.uid, belongs(parent, b, name)) // before others find it in the tree
	added, living := parent.addChild(&c.core)
	if living != nil {
		return again(parent, living, b)
	}
	if !added {
		c.core.dead, c.core.over = true, true
		c.core.endLife(&c.life)
		return ActorRef[M]{&c.core}
	}
	return begin(c)
}

// begin lets the actor start, which is in the tree.
func begin[M any](c *cell[M]) ActorRef[M] {
	if ctx := c.conf.ctx; ctx != nil {
		c.core.stopWith(&c.life, ctx, func() { c.signal(systemMsg{kind: sysStop}) })
	}
	c.tally.counts.started.Add(1)
	c.core.sys.scheduler.ready(&c.core)
	return ActorRef[M]{&c.core}
}

func configure[M any](opts []SpawnOption) *config[M] {
	shared := commonOf[M]()
	if len(opts) == 0 {
		return &shared.conf
	}
	c := &config[M]{common: shared}
	for i, o := range opts {
		if o == nil {
			panic(fmt.Sprintf("actor: spawn: option %d is nil", i+1))
		}
		o.apply(&c.spawnConfig)
	}
	return c
}

func newCell[M any](parent *core, b Behavior[M], name string, conf *config[M]) *cell[M] {
	c := &cell[M]{initial: b}
	c.core.sys, c.core.parent, c.core.label, c.core.uid, c.core.impl = parent.sys, parent, name, parent.sys.nextUID(), c
	c.conf, c.extras = conf, &conf.none
	if r := newPriorityQueue[M](conf.box, c.core.path); r != nil {
		c.own().priorities = r
	}
	c.core.port = &conf.port
	if conf.box.overflow == block {
		c.core.flags.set(blocking)
		c.own().senders = &blockedSenders[M]{of: &c.inbox}
	}
	if conf.ctx != nil {
		c.life.Store(&life{given: conf.ctx})
	}
	c.ctx.cell = c
	c.system.start = true
	c.urgent.Store(true)
	c.core.scheduled, c.core.suspended, c.core.unborn = true, true, true
	c.refit()
	return c
}
