package actor

import (
	"context"
	"fmt"
)

// A Spawner can have children: [*System], whatever embeds one, and the [*Context] of an
// actor.
type Spawner interface{ spawnUnder() *core }

// A SpawnOption changes how one actor is spawned: a [Mailbox], or what [WithContext] and
// [WithGate] return.
type SpawnOption interface{ apply(c *spawnConfig) }

type spawnOption func(*spawnConfig)

func (o spawnOption) apply(c *spawnConfig) { o(c) }

type spawnConfig struct {
	box  Mailbox
	ctx  context.Context
	gate func() error
}

// WithContext gives the actor, and those it spawns, the values of ctx; and stops the
// actor when ctx is done. Without it, values are those of the parent.
func WithContext(ctx context.Context) SpawnOption {
	return spawnOption(func(c *spawnConfig) { c.ctx = ctx })
}

// Spawn starts an actor as a child of parent, and returns at once; b is called inside
// the new actor. An empty name makes a unique one. It panics when a living child of
// parent has the name, or when the name contains anything but letters, digits and
// -_.:~+@, or has more than 1024 bytes. When parent is stopping or has ended, the ref is that of an actor that has
// ended too.
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
	if !parent.addChild(&c.core) {
		c.dead, c.over = true, true
		c.endLife()
		return ActorRef[M]{&c.core}
	}
	if ctx := c.conf.ctx; ctx != nil {
		c.stopWith(ctx, func() { c.signal(systemMsg{kind: sysStop}) })
	}
	c.sys.scheduler.ready(&c.core)
	return ActorRef[M]{&c.core}
}

func configure[M any](opts []SpawnOption) *config[M] {
	shared := commonOf[M]()
	if len(opts) == 0 {
		return &shared.conf
	}
	c := &config[M]{common: shared}
	for _, o := range opts {
		o.apply(&c.spawnConfig)
	}
	return c
}

func newCell[M any](parent *core, b Behavior[M], name string, conf *config[M]) *cell[M] {
	c := &cell[M]{conf: conf, initial: b}
	c.sys, c.parent, c.label, c.uid, c.impl = parent.sys, parent, name, parent.sys.nextUID(), c
	c.extras = &conf.none
	if r := newRanking[M](conf.box, c.path); r != nil {
		c.own().ranking = r
	}
	if conf.box.overflow == block {
		c.own().room = new(room[M])
	}
	if conf.ctx != nil {
		c.life.Store(&life{given: conf.ctx})
	}
	c.ctx.cell = c
	c.system.start = true
	c.urgent.Store(true)
	c.scheduled, c.suspended, c.unborn = true, true, true
	c.refit()
	return c
}
