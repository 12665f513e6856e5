package actor

import (
	"context"
	"fmt"
	"strconv"
)

// A Spawner can have children: [*System], whatever embeds one, and the [*Context] of an
// actor.
type Spawner interface{ spawnUnder() *core }

// A SpawnOption changes how one actor is spawned.
type SpawnOption func(*spawnConfig)

type spawnConfig struct {
	box  Mailbox
	ctx  context.Context
	gate func() error
}

// WithMailbox gives the actor another mailbox than [Unbounded].
func WithMailbox(m Mailbox) SpawnOption { return func(c *spawnConfig) { c.box = m } }

// WithContext gives the actor, and those it spawns, the values of ctx; and stops the
// actor when ctx is done. Without it, values are those of the parent.
func WithContext(ctx context.Context) SpawnOption { return func(c *spawnConfig) { c.ctx = ctx } }

// Spawn starts an actor as a child of parent, and returns at once; b is called inside
// the new actor. An empty name makes a unique one. It panics when a living child of
// parent has the name, or when the name contains anything but letters, digits and
// -_.:~+@. When parent is stopping or has ended, the ref is that of an actor that has
// ended too.
func Spawn[M any](parent Spawner, b Behavior[M], name string, opts ...SpawnOption) ActorRef[M] {
	return spawn(parent.spawnUnder(), b, name, opts)
}

func spawn[M any](parent *core, b Behavior[M], name string, opts []SpawnOption) ActorRef[M] {
	if b == nil {
		panic(fmt.Sprintf("actor: nil behavior for actor %q", name))
	}
	cfg := configure(opts)
	c := newCell(parent, observed(parent, b), cfg)
	name = c.settle(name)
	if !parent.addChild(name, &c.core) {
		c.dead, c.over = true, true
		c.life.end()
		return ActorRef[M]{&c.core}
	}
	if cfg.ctx != nil {
		c.stopWith(cfg.ctx)
	}
	c.sys.scheduler.ready(&c.core)
	return ActorRef[M]{&c.core}
}

func configure(opts []SpawnOption) spawnConfig {
	if len(opts) == 0 {
		return spawnConfig{}
	}
	var c spawnConfig
	for _, o := range opts {
		o(&c)
	}
	return c
}

// settle gives the cell its path, and returns its name, which is made when there is none.
func (c *cell[M]) settle(name string) string {
	below := c.parent.path + "/"
	if name == "" {
		c.path = string(strconv.AppendUint([]byte(below+"$"), c.uid, 36))
	} else {
		checkName(name)
		c.path = below + name
	}
	return c.path[len(below):]
}

func newCell[M any](parent *core, b Behavior[M], cfg spawnConfig) *cell[M] {
	s := parent.sys
	c := &cell[M]{box: cfg.box, gate: cfg.gate, initial: b, base: -1, restart: -1}
	c.core = core{sys: s, parent: parent, address: s.address, uid: s.nextUID(), impl: c}
	c.life.parent = parent.node().context()
	if cfg.ctx != nil {
		c.life.parent = cfg.ctx
	}
	c.ctx = Context[M]{Context: &c.life, cell: c}
	c.chunks = chunksOf[M]()
	c.refit()
	c.system = []systemMsg{{kind: sysStart}}
	c.urgent.Store(true)
	c.scheduled, c.suspended, c.unborn = true, true, true
	return c
}

// stopWith stops the actor when ctx is done.
func (c *cell[M]) stopWith(ctx context.Context) {
	detach := context.AfterFunc(ctx, func() { c.signal(systemMsg{kind: sysStop}) })
	c.life.mu.Lock()
	defer c.life.mu.Unlock()
	c.life.detach = detach
}

func (c *cell[M]) context() context.Context { return &c.life }
