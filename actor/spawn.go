package actor

import (
	"context"
	"fmt"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/metadata"
)

// A Spawner can have children. It is a [*System], a type that embeds one, or the [*Context] of an
// actor.
type Spawner interface{ spawnUnder() *core }

// A SpawnOption configures one actor: a [Mailbox], or what [WithKind] returns.
type SpawnOption interface{ apply(c *spawnConfig) }

type spawnOption func(*spawnConfig)

func (o spawnOption) apply(c *spawnConfig) { o(c) }

type spawnConfig struct {
	box       Mailbox
	ctx       context.Context
	admission func() error
	kind      string       // "" is the kind of the message type
	passed    *spawnConfig // what the actor passes on to its child instead, see extension.PassedOptions; may be nil
}

func (c *config) passOn(mark any) {
	if _, passes := mark.(interface{ PassesOptionsOn() }); passes && (!c.box.plain() || c.kind != "") {
		c.passed = &spawnConfig{box: c.box, kind: c.kind}
		c.box, c.kind = Mailbox{}, ""
	}
}

func (c *config) mailbox() Mailbox {
	if c.passed != nil {
		return c.passed.box
	}
	return c.box
}

func (x *inside) PassedOptions() (opts []SpawnOption) {
	if passed := x.cell.conf.passed; passed != nil {
		opts = append(opts, passed.box)
		if passed.kind != "" {
			opts = append(opts, WithKind(passed.kind))
		}
	}
	return opts
}

func (c *spawnConfig) checkAdmission() error { return guard.Run(c.admission) }

// Spawn starts an actor as a child of parent and returns immediately; b is called inside the new
// actor. If name is empty, the actor gets a unique one. A name has at most 1024 bytes, of letters,
// digits and -_.:~+@. Spawn panics if name is invalid, or if a living child of parent has it. The
// exception is a singleton: a Spawn with its name and its settings returns the ref of the living
// one. If parent is stopping or has ended, b is never called, and the returned ref addresses an
// actor that has ended.
func Spawn[M any](parent Spawner, b Behavior[M], name string, opts ...SpawnOption) ActorRef[M] {
	under, of := checkSpawn(parent, b == nil, name), commonOf[M]()
	mark := markOf(of, b)
	conf := configure(&of.conf, opts)
	conf.passOn(mark)
	if conf.returns == nil { // else the turn of the parent owns what observes its children
		b = observe(of, b, observersOf(under))
	}
	x := newBox(under, b, name, conf, of)
	checkPriority[M](conf.mailbox(), &x.cell.core)
	return ActorRef[M]{x.cell.spawn(mark)}
}

// checkSpawn panics for what cannot be spawned.
func checkSpawn(parent Spawner, nothing bool, name string) *core {
	if nothing {
		panic(fmt.Sprintf("actor: nil behavior for actor %q", name))
	}
	if name != "" {
		checkName(name)
	}
	return parent.spawnUnder()
}

// The result may be the core of another actor, which has its name already.
func (c *cell) spawn(mark any) *core {
	if r := c.conf.returns; r != nil {
		return r.spawn(c)
	}
	parent := c.core.parent
	c.tally.counts = c.conf.counts(c.core.sys, c.core.uid, belongs(parent, mark, c.core.label)) // before others find it in the tree
	added, living := parent.addChild(&c.core)
	if living != nil {
		return again(parent, living, mark)
	}
	if !added {
		c.core.dead, c.core.over, c.core.plain = true, true, false
		c.endLife()
		return &c.core
	}
	c.begin()
	return &c.core
}

// c is in the tree.
func (c *cell) begin() {
	if ctx := c.conf.ctx; ctx != nil {
		c.stopWith(ctx)
	}
	c.tally.counts.started.Add(1)
	c.core.sys.scheduler.ready(&c.core)
}

func configure(usual *config, opts []SpawnOption) *config {
	if len(opts) == 0 {
		return usual
	}
	if r, ok := opts[0].(*returning); ok && len(opts) == 1 {
		return r.config(usual.kinded)
	}
	c := &config{kinded: usual.kinded}
	for i, o := range opts {
		if o == nil {
			panic(fmt.Sprintf("actor: spawn: option %d is nil", i+1))
		}
		o.apply(&c.spawnConfig)
	}
	return c
}

func observersOf(c *core) []wrapper {
	if of, ok := c.impl.(*cell); ok {
		return of.observers()
	}
	return nil // a guardian
}

// Most cells never need them. The turn owns them.
type extras struct {
	supervision supervision
	timers      timers
	wrapping    *wrapping
	transition  *transition           // that a behavior is filling in; nil for nothing
	asInner     *inner                // of an inner cell; nil for others
	bypassing   *bypassRequest        // opens once the mailbox is empty
	bypass      atomic.Pointer[inbox] // where messages go instead, while they are bypassed; written under core.mu, and its mutex may be taken under that one
	watched     watches
	cleanups    cleanups
	asks        linkedList[selfAsk] // without an outcome
	log         *zap.Logger
	metadata    metadata.Metadata // of the message that is being handled
	span        *span
	priorities  *priorities // of a mailbox with priorities
	pause       *pause      // in phase paused
	awaited     int
	backlog     backlog
	senders     *blockedSenders // of a mailbox that blocks; guarded by core.mu
	holds       []holder        // of the incarnation
}

// noExtras are the extras of cells without their own; never written.
var noExtras = extras{supervision: supervision{base: -1, restart: -1}}

// A config is how a cell was spawned, and what it shares.
type config struct {
	spawnConfig
	kinded  *kinded
	returns *returning // gets the messages that are left at the end; nil: they are dead letters
}

// Every write that may be the first uses it. Reads find the shared empty extras.
func (b *inbox) own() *extras {
	if b.extras != &noExtras {
		return b.extras
	}
	b.extras = &extras{supervision: supervision{restart: -1}}
	if b.core.phase == starting {
		b.supervision.base = -1
	}
	return b.extras
}

func (b *inbox) depth() int { return len(b.supervision.layers) }
