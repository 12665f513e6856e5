package actor

import (
	"math"

	"github.com/understudy-go/understudy/internal/metadata"
	"github.com/understudy-go/understudy/internal/payload"
)

// Transform implements behaviors.Transform.
func Transform[Outer, Inner any](b Behavior[Inner], f func(Outer) (Inner, bool)) Behavior[Outer] {
	return func(ctx *Context[Outer], next *Next[Outer]) {
		g := innerOf[Outer, Inner](ctx.cell)
		g.transform = f
		g.begin(b, nil, next)
	}
}

// An inner is a cell without a mailbox, in which a behavior of another message type lives inside an
// actor, the outer cell. It has handlers, timers and watches of its own. Turn, mailbox, children,
// supervision and end are those of the outer cell.
//
// It is no child actor behind an adapter: that would be shorter, but each message would need two
// turns, and the paths of children, Self and supervision would change.
type inner[Outer, Inner any] struct {
	cell[Inner]
	of        *cell[Outer]
	transform func(Outer) (Inner, bool)
	next      *Next[Outer] // of the transition that is under way
	begun     bool         // by the transition that is under way
	tidied    bool         // its end is among the cleanups of the actor
}

// An outer is what an inner cell needs of the cell around it.
type outer[M any] interface {
	become(b Behavior[M]) (handled bool)
	supervise(b Behavior[M], s Strategy, n *Next[M])
	fail(err error)
	enqueue(it item[M], by entrance)
	putBack(items []item[M])
	told(msg any)
}

// outer returns the outer cell of an inner one, else nil.
func (c *cell[M]) outer() outer[M] {
	if !c.core.outside {
		return nil
	}
	if g, ok := c.core.impl.(interface{ outer() outer[M] }); ok {
		return g.outer()
	}
	return nil
}

// post puts an item into the mailbox of the actor, which belongs to the outermost cell.
func (c *cell[M]) post(it item[M], by entrance) {
	if outer := c.outer(); outer != nil {
		outer.enqueue(it, by)
		return
	}
	c.enqueue(it, by)
}

// An outermost is a cell in the tree, as the cells inside it need it.
type outermost interface {
	depth() int // how many strategies are around the behavior
	ownCleanups() *cleanups
	handled() (metadata.Metadata, *span)
	counts() *counts
	keeps(n int)
	returnsRest() bool
}

var _ outermost = (*cell[any])(nil)

// outermost returns the cell in the tree that c is, or is inside of.
func (c *core) outermost() outermost { return c.actor().impl.(outermost) }

// deferred returns the functions given to Defer, for writing.
func (c *core) deferred() *cleanups { return c.outermost().ownCleanups() }

// ending reports whether the incarnation is about to end, or has ended.
func (c *core) ending() bool { return c.actor().phase >= restarting }

// An innerCell is an inner cell as the outer one sees it.
type innerCell interface {
	spawnObserver // of children, which are those of the actor
	stays() bool  // whether the transition that is under way has begun it
	leave()
}

func innerOf[Outer, Inner any](c *cell[Outer]) *inner[Outer, Inner] {
	if c.wrapping == nil {
		c.own().wrapping = &wrapping[Outer]{message: c.onMessage, signal: c.onSignal}
	}
	if g, ok := c.wrapping.inner.(*inner[Outer, Inner]); ok {
		return g
	}
	if c.wrapping.inner != nil {
		c.wrapping.inner.leave()
	}
	g := &inner[Outer, Inner]{of: c}
	g.core.sys, g.core.uid, g.core.parent, g.core.impl, g.core.outside = c.core.sys, c.core.sys.nextUID(), c.core.actor(), g, true
	g.conf = &commonOf[Inner]().conf
	g.extras = &g.conf.none
	g.ctx.cell = &g.cell
	c.wrapping.inner = g
	return g
}

// inlet returns a port for messages of Deliver only.
func (g *inner[Outer, Inner]) inlet() *port {
	return &port{take: func(_ *core, msg Inner, m metadata.Metadata, done func(error)) {
		postDelivered(&g.cell, msg, m, done)
	}}
}

func (g *inner[Outer, Inner]) outer() outer[Inner] { return (*outerOf[Outer, Inner])(g) }

// begin starts b as the first behavior of the inner cell, with around around its handlers.
func (g *inner[Outer, Inner]) begin(b Behavior[Inner], around []wrapper[Inner], next *Next[Outer]) {
	if !g.tidied {
		g.tidied = true
		g.core.deferred().add(cleanup{depth: math.MaxInt, run: g.leave, of: g})
	}
	g.onMessage, g.onSignal = unhandledMessage[Inner], nil
	g.unwrapTo(around)
	if g.apply(b, next, true) {
		g.wrapping.setBase()
		g.begun = true
		next.OnMessage, next.OnSignal = g.receive, g.receiveSignal
	}
}

func unhandledMessage[M any](*Context[M], M) Behavior[M] {
	return func(_ *Context[M], n *Next[M]) { n.Unhandled() }
}

// apply continues as b says, and fills in next with the consequences for the outer cell.
func (g *inner[Outer, Inner]) apply(b Behavior[Inner], next *Next[Outer], first bool) (installed bool) {
	n := &g.scratch
	*n = Next[Inner]{cell: &g.cell, starting: first}
	g.next = next
	b(current(&g.cell), n)
	switch {
	case n.err() != nil:
		next.Fail(n.err())
	case n.stop:
		next.Stop()
	case first && (n.unhandled || n.OnMessage == nil):
		next.Fail(errNoBehavior)
	case n.unhandled:
		next.Unhandled()
	default:
		g.install(n)
		return true
	}
	return false
}

// answer returns the behavior of the outer cell after a handler of the inner one has returned b.
func (g *inner[Outer, Inner]) answer(b Behavior[Inner]) Behavior[Outer] {
	if b == nil {
		return nil
	}
	return func(_ *Context[Outer], next *Next[Outer]) { g.apply(b, next, false) }
}

func (g *inner[Outer, Inner]) receive(_ *Context[Outer], msg Outer) Behavior[Outer] {
	inner, ok := g.transform(msg)
	if !ok {
		return func(_ *Context[Outer], n *Next[Outer]) { n.Unhandled() }
	}
	if g.timers.idle != nil {
		g.timers.idle.told(inner)
	}
	return g.answer(g.onMessage(current(&g.cell), inner))
}

func (g *inner[Outer, Inner]) receiveSignal(_ *Context[Outer], sig Signal) Behavior[Outer] {
	return g.answer(g.tellSignal(sig))
}

func (g *inner[Outer, Inner]) stays() bool {
	begun := g.begun
	g.begun = false
	return begun
}

// leave ends everything that the inner cell has begun. Later messages to it are unhandled.
func (g *inner[Outer, Inner]) leave() {
	g.timers.stop()
	g.watched.endAll()
	if w := g.wrapping; w != nil && w.inner != nil {
		w.inner.leave()
	}
	g.unwrapTo(nil)
	g.asks.abandonAll(ErrStaleHandler)
	g.onMessage, g.onSignal = unhandledMessage[Inner], nil
	g.epoch++
	if g.tidied {
		g.tidied = false
		g.core.deferred().drop(g)
	}
}

// deliver takes messages to the ref of the inner cell.
func (g *inner[Outer, Inner]) deliver(msg any, by entrance) {
	if m, ok := payload.As[Inner](msg); ok {
		g.outer().enqueue(item[Inner]{msg: m}, by)
		return
	}
	g.core.sys.deadLetter(&g.core, msg, wrongType[Inner](msg))
}

// outerOf implements outer for an inner cell.
type outerOf[Outer, Inner any] inner[Outer, Inner]

func (h *outerOf[Outer, Inner]) inner() *inner[Outer, Inner] { return (*inner[Outer, Inner])(h) }

func (h *outerOf[Outer, Inner]) become(b Behavior[Inner]) (handled bool) {
	return h.of.become(h.inner().answer(b))
}

// supervise turns a strategy inside the inner cell into one of the outer cell, with which a restart
// begins inside again.
func (h *outerOf[Outer, Inner]) supervise(b Behavior[Inner], s Strategy, n *Next[Inner]) {
	g, around, restart := h.inner(), n.around(), false
	h.next.Supervise(func(_ *Context[Outer], next *Next[Outer]) {
		if restart {
			g.begin(b, around, next)
			return
		}
		restart = true
		b(&g.ctx, n)
	}, s)
}

func (h *outerOf[Outer, Inner]) fail(err error) { h.of.fail(err) }

func (h *outerOf[Outer, Inner]) enqueue(it item[Inner], by entrance) { h.of.post(h.wrap(it), by) }

func (h *outerOf[Outer, Inner]) putBack(items []item[Inner]) {
	wrapped := make([]item[Outer], len(items))
	for i, it := range items {
		wrapped[i] = h.wrap(it)
	}
	h.of.putBack(wrapped)
}

func (h *outerOf[Outer, Inner]) wrap(it item[Inner]) item[Outer] {
	return item[Outer]{task: &forInner[Outer, Inner]{it, h.inner()}}
}

// told restarts the receive timeouts of the outer cells, as msg does not pass through their
// handlers.
func (h *outerOf[Outer, Inner]) told(msg any) {
	if h.of.timers.idle != nil {
		h.of.timers.idle.told(msg)
	}
	if outer := h.of.outer(); outer != nil {
		outer.told(msg)
	}
}

// forInner is an item for the inner cell in the mailbox of the outer one.
type forInner[Outer, Inner any] struct {
	item item[Inner]
	to   *inner[Outer, Inner]
}

func (f *forInner[Outer, Inner]) run(*cell[Outer]) {
	if f.item.task != nil {
		f.item.task.run(&f.to.cell)
	} else {
		f.to.handleTaskMessage(f.item.msg)
	}
}

func (f *forInner[Outer, Inner]) delivering() (kind string, msg any) { return f.item.delivering() }

func (f *forInner[Outer, Inner]) exempt() bool { return f.item.exempt() }

func (f *forInner[Outer, Inner]) follows() bool { return f.item.follows() }

func (f *forInner[Outer, Inner]) undelivered() (any, bool) { return f.item.undelivered() }
