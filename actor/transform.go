package actor

import "math"

// Transform implements behaviors.Transform.
func Transform[Outer, Inner any](b Behavior[Inner], f func(Outer) (Inner, bool)) Behavior[Outer] {
	return func(ctx *Context[Outer], next *Next[Outer]) {
		g := innerOf[Outer, Inner](ctx.in.cell)
		g.transform = f
		begin(g, b, nil, next)
	}
}

// An inner is a cell without a mailbox, in which a behavior of another message type lives inside an
// actor, the outer cell. It has handlers, timers and watches of its own. Turn, mailbox, children,
// supervision and end are those of the outer cell.
//
// It is no child actor behind an adapter: that would be shorter, but each message would need two
// turns, and the paths of children, Self and supervision would change.
type inner struct {
	cell   *cell
	of     *cell
	idle   any  // its message handler while it is not in use
	begun  bool // by the present transition
	tidied bool // its end is among the cleanups of the actor
	around around
}

func (b *inbox) inner() *inner {
	if !b.core.outside {
		return nil // any goroutine may ask, and must not look at the extras
	}
	return b.asInner
}

type around interface {
	become(b any, keep func(n *next) bool) (handled bool)
	supervise(b any, s Strategy, n any) // n is the Next that b fills in
}

type innerBox[Outer, Inner any] struct {
	inner     inner
	box       box[Inner]
	transform func(Outer) (Inner, bool)
	next      *Next[Outer]
}

func innerOf[Outer, Inner any](c *cell) *innerBox[Outer, Inner] {
	if c.wrapping == nil {
		c.own().wrapping = &wrapping{inside: c.box.handlers()}
	}
	if c.wrapping.inner != nil {
		if g, ok := c.wrapping.inner.around.(*innerBox[Outer, Inner]); ok {
			return g
		}
		c.wrapping.inner.leave()
	}
	g := new(innerBox[Outer, Inner])
	common := commonOf[Inner]()
	g.box.queue.of, g.box.ctx.in.cell, g.box.scratch.next.cell = common, &g.box.cell, &g.box.cell
	g.inner = inner{cell: &g.box.cell, of: c, around: g, idle: MessageHandler[Inner](unhandledMessage[Inner])}
	beginInner(c, &g.inner, &g.box, &common.conf)
	return g
}

func beginInner(c *cell, g *inner, box typed, conf *config) {
	in := g.cell
	in.core.sys, in.core.uid, in.core.parent, in.core.impl, in.core.outside = c.core.sys, c.core.sys.nextUID(), c.core.actor(), in, true
	in.box, in.conf, in.extras = box, conf, &noExtras
	in.own().asInner = g
	c.wrapping.inner = g
}

// b is its first behavior.
func begin[Outer, Inner any](g *innerBox[Outer, Inner], b Behavior[Inner], around []wrapper, next *Next[Outer]) {
	g.inner.prepare(around)
	if apply(g, b, nil, next, true) {
		g.inner.cell.wrapping.setBase()
		g.inner.begun = true
		next.OnMessage, next.OnSignal = g.receive, g.receiveSignal
	}
}

func (g *inner) prepare(around []wrapper) {
	if !g.tidied {
		g.tidied = true
		g.cell.core.deferred().add(cleanup{depth: math.MaxInt, run: g.leave, of: g})
	}
	g.cell.box.setHandlers(handlers{message: g.idle})
	g.cell.unwrapTo(around)
}

func unhandledMessage[M any](*Context[M], M) Behavior[M] { return unhandled[M] }

func apply[Outer, Inner any](g *innerBox[Outer, Inner], b Behavior[Inner], keep func(n *next) bool, next *Next[Outer], first bool) (installed bool) {
	g.next = next
	n := &g.box.scratch
	g.box.forget() // of a transition that has failed
	n.next.starting = first
	b(current(&g.box), n)
	if keep != nil && !keep(&n.next) {
		g.box.forget()
	}
	said, t := taken(&g.box)
	if !next.next.obey(&said.next, &t, said.OnMessage != nil) {
		return false
	}
	install(&g.box, &said, &t)
	return true
}

// obey leaves the handlers out, which are to be set if it returns true. handles says whether one is
// for messages.
func (n *next) obey(inner *next, t *transition, handles bool) (set bool) {
	switch {
	case t.err != nil:
		n.fail(t.err)
	case inner.stop:
		n.stop = true
	case inner.starting && (inner.unhandled || !handles):
		n.fail(errNoBehavior)
	case inner.unhandled:
		n.unhandled = true
	default:
		return true
	}
	return false
}

func answer[Outer, Inner any](g *innerBox[Outer, Inner], b Behavior[Inner], keep func(n *next) bool) Behavior[Outer] {
	if b == nil {
		return nil
	}
	return func(_ *Context[Outer], next *Next[Outer]) { apply(g, b, keep, next, false) }
}

func (g *innerBox[Outer, Inner]) receive(_ *Context[Outer], msg Outer) Behavior[Outer] {
	inner, ok := g.transform(msg)
	if !ok {
		return unhandled[Outer]
	}
	if idle := g.box.cell.timers.idle; idle != nil {
		idle.told(inner)
	}
	return answer(g, g.box.onMessage(current(&g.box), inner), nil)
}

func (g *innerBox[Outer, Inner]) receiveSignal(_ *Context[Outer], sig Signal) Behavior[Outer] {
	b, _ := g.box.signal(sig).(Behavior[Inner])
	return answer(g, b, nil)
}

func (g *inner) stays() bool {
	begun := g.begun
	g.begun = false
	return begun
}

// Later messages to it are unhandled.
func (g *inner) leave() {
	c := g.cell
	c.timers.stop()
	c.watched.endAll()
	if w := c.wrapping; w != nil && w.inner != nil {
		w.inner.leave()
	}
	c.unwrapTo(nil)
	abandonAll(&c.asks, ErrStaleHandler)
	c.box.setHandlers(handlers{message: g.idle})
	c.epoch++
	if g.tidied {
		g.tidied = false
		c.core.deferred().drop(g)
	}
}

func (g *innerBox[Outer, Inner]) become(b any, keep func(n *next) bool) (handled bool) {
	next := answer(g, b.(Behavior[Inner]), keep) // of its own box
	return next == nil || g.inner.of.box.become(next, nil)
}

// A restart begins again inside the inner cell.
func (g *innerBox[Outer, Inner]) supervise(b any, s Strategy, n any) {
	to, inside := n.(*Next[Inner]), b.(Behavior[Inner]) // of its own box
	around, restart := to.next.around(), false
	g.next.Supervise(func(_ *Context[Outer], next *Next[Outer]) {
		if restart {
			begin(g, inside, around, next)
			return
		}
		restart = true
		inside(&g.box.ctx, to)
	}, s)
}

func (g *inner) item(it item) item { return item{task: &forInner{it, g.cell}} }

func (g *inner) putBack(items []item) {
	for i, it := range items {
		items[i] = g.item(it)
	}
	g.of.putBack(items)
}

// msg does not pass through the handlers of the outer cells.
func (g *inner) told(msg any) {
	if g.of.timers.idle != nil {
		g.of.timers.idle.told(msg)
	}
	if in := g.of.inner(); in != nil {
		in.told(msg)
	}
}

type forInner struct {
	item
	to *cell
}

func (f *forInner) run(*cell) { f.item.run(f.to) }
