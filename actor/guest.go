package actor

import (
	"math"

	"github.com/understudy-go/understudy/internal/payload"
)

// Transform returns the behavior of an actor that takes messages of type Outer and behaves
// as b does to what f makes of them; see behaviors.Transform.
func Transform[Outer, Inner any](b Behavior[Inner], f func(Outer) (Inner, bool)) Behavior[Outer] {
	return func(ctx *Context[Outer], next *Next[Outer]) {
		g := guestOf[Outer, Inner](ctx.cell)
		g.transform = f
		g.begin(b, nil, next)
	}
}

// A guest is a cell without a mailbox of its own, in which a behavior of another message
// type lives inside an actor. It has handlers, timers and watches; the rest is its host's:
// its turn, its mailbox, its children, its supervision and its end.
type guest[Outer, Inner any] struct {
	cell[Inner]
	of        *cell[Outer]
	transform func(Outer) (Inner, bool)
	next      *Next[Outer] // of the transition that is under way
	invited   bool         // by the transition that is under way
	tidied    bool         // its end is among the cleanups of the host
}

// A host is what a cell asks that is a guest.
type host[M any] interface {
	become(b Behavior[M]) (handled bool)
	supervise(b Behavior[M], s Strategy, n *Next[M])
	fail(err error)
	enqueue(it item[M], by entrance)
	putBack(items []item[M])
	ending() bool
	check(what string)
	depth() int
	addCleanup(l cleanup)
	dropCleanup(owner any)
	told(msg any)
}

// hosted returns the host of a cell that is a guest, else nil.
func (c *cell[M]) hosted() host[M] {
	if !c.outside {
		return nil
	}
	if g, ok := c.impl.(interface{ host() host[M] }); ok {
		return g.host()
	}
	return nil
}

// post puts it into the mailbox of the actor, which is the host's for a guest.
func (c *cell[M]) post(it item[M], by entrance) {
	if host := c.hosted(); host != nil {
		host.enqueue(it, by)
		return
	}
	c.enqueue(it, by)
}

// ending reports whether the incarnation is about to end, or has.
func (c *cell[M]) ending() bool {
	if host := c.hosted(); host != nil {
		return host.ending()
	}
	return c.phase >= restarting
}

// A lodger is a guest, to its host.
type lodger interface {
	overseer     // of children, which are the host's
	stays() bool // whether the transition that is under way has invited it
	leave()
}

func guestOf[Outer, Inner any](c *cell[Outer]) *guest[Outer, Inner] {
	if c.wrapping == nil {
		c.own().wrapping = &wrapping[Outer]{message: c.onMessage, signal: c.onSignal}
	}
	if g, ok := c.wrapping.guest.(*guest[Outer, Inner]); ok {
		return g
	}
	if c.wrapping.guest != nil {
		c.wrapping.guest.leave()
	}
	g := &guest[Outer, Inner]{of: c}
	g.sys, g.uid, g.parent, g.impl, g.outside = c.sys, c.sys.nextUID(), c.actor(), g, true
	g.conf = &commonOf[Inner]().conf
	g.extras = &g.conf.none
	g.ctx.cell = &g.cell
	c.wrapping.guest = g
	return g
}

func (g *guest[Outer, Inner]) host() host[Inner] { return (*hostOf[Outer, Inner])(g) }

// begin starts b as the first behavior of the guest, with around around its handlers.
func (g *guest[Outer, Inner]) begin(b Behavior[Inner], around []wrapper[Inner], next *Next[Outer]) {
	if !g.tidied {
		g.tidied = true
		g.of.addCleanup(cleanup{depth: math.MaxInt, run: g.leave, of: g})
	}
	g.onMessage, g.onSignal = unhandledMessage[Inner], nil
	g.unwrapTo(around)
	if g.apply(b, next, true) {
		g.wrapping.setBase()
		g.invited = true
		next.OnMessage, next.OnSignal = g.receive, g.receiveSignal
	}
}

func unhandledMessage[M any](*Context[M], M) Behavior[M] {
	return func(_ *Context[M], n *Next[M]) { n.Unhandled() }
}

// apply goes on as b says, and tells next what that means for the host.
func (g *guest[Outer, Inner]) apply(b Behavior[Inner], next *Next[Outer], first bool) (installed bool) {
	n := &g.scratch
	*n = Next[Inner]{cell: &g.cell, starting: first}
	g.next = next
	b(&g.ctx, n)
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

// answer returns what the host does when a handler of the guest has said b.
func (g *guest[Outer, Inner]) answer(b Behavior[Inner]) Behavior[Outer] {
	if b == nil {
		return nil
	}
	return func(_ *Context[Outer], next *Next[Outer]) { g.apply(b, next, false) }
}

func (g *guest[Outer, Inner]) receive(_ *Context[Outer], msg Outer) Behavior[Outer] {
	inner, ok := g.transform(msg)
	if !ok {
		return func(_ *Context[Outer], n *Next[Outer]) { n.Unhandled() }
	}
	if g.idle != nil {
		g.idle.told(inner)
	}
	return g.answer(g.onMessage(&g.ctx, inner))
}

func (g *guest[Outer, Inner]) receiveSignal(_ *Context[Outer], sig Signal) Behavior[Outer] {
	return g.answer(g.tellSignal(sig))
}

func (g *guest[Outer, Inner]) stays() bool {
	invited := g.invited
	g.invited = false
	return invited
}

// leave ends what the guest has begun. What it is told afterwards is unhandled.
func (g *guest[Outer, Inner]) leave() {
	g.stopTimers()
	g.unwatchAll()
	if w := g.wrapping; w != nil && w.guest != nil {
		w.guest.leave()
	}
	g.unwrapTo(nil)
	g.abandonAsks()
	g.onMessage, g.onSignal = unhandledMessage[Inner], nil
	g.epoch++
	if g.tidied {
		g.tidied = false
		g.of.dropCleanup(g)
	}
}

// deliver takes what is told to the ref of the guest.
func (g *guest[Outer, Inner]) deliver(msg any, by entrance) {
	if m, ok := payload.As[Inner](msg); ok {
		g.host().enqueue(item[Inner]{msg: m}, by)
		return
	}
	g.sys.deadLetter(&g.core, msg, wrongType[Inner](msg))
}

// hostOf is the host, as its guest sees it.
type hostOf[Outer, Inner any] guest[Outer, Inner]

func (h *hostOf[Outer, Inner]) guest() *guest[Outer, Inner] { return (*guest[Outer, Inner])(h) }

func (h *hostOf[Outer, Inner]) become(b Behavior[Inner]) (handled bool) {
	return h.of.become(h.guest().answer(b))
}

// supervise makes a strategy inside the guest one of the host, by which a restart begins
// again inside.
func (h *hostOf[Outer, Inner]) supervise(b Behavior[Inner], s Strategy, n *Next[Inner]) {
	g, around, restart := h.guest(), n.around(), false
	h.next.Supervise(func(_ *Context[Outer], next *Next[Outer]) {
		if restart {
			g.begin(b, around, next)
			return
		}
		restart = true
		b(&g.ctx, n)
	}, s)
}

func (h *hostOf[Outer, Inner]) fail(err error) { h.of.fail(err) }

func (h *hostOf[Outer, Inner]) enqueue(it item[Inner], by entrance) { h.of.post(h.wrap(it), by) }

func (h *hostOf[Outer, Inner]) putBack(items []item[Inner]) {
	wrapped := make([]item[Outer], len(items))
	for i, it := range items {
		wrapped[i] = h.wrap(it)
	}
	h.of.putBack(wrapped)
}

func (h *hostOf[Outer, Inner]) wrap(it item[Inner]) item[Outer] {
	return item[Outer]{task: &forGuest[Outer, Inner]{it, h.guest()}}
}

func (h *hostOf[Outer, Inner]) ending() bool { return h.of.ending() }

func (h *hostOf[Outer, Inner]) check(what string) { h.of.check(what) }

func (h *hostOf[Outer, Inner]) depth() int { return h.of.depth() }

func (h *hostOf[Outer, Inner]) addCleanup(l cleanup) { h.of.addCleanup(l) }

// told begins the receive timeouts around the guest anew, as msg does not pass the host.
func (h *hostOf[Outer, Inner]) told(msg any) {
	if h.of.idle != nil {
		h.of.idle.told(msg)
	}
	if host := h.of.hosted(); host != nil {
		host.told(msg)
	}
}

func (h *hostOf[Outer, Inner]) dropCleanup(owner any) { h.of.dropCleanup(owner) }

// forGuest is what waits in the mailbox of the host for its guest.
type forGuest[Outer, Inner any] struct {
	item item[Inner]
	to   *guest[Outer, Inner]
}

func (f *forGuest[Outer, Inner]) run(*cell[Outer]) {
	if f.item.task != nil {
		f.item.task.run(&f.to.cell)
	} else {
		f.to.handleTaskMessage(f.item.msg)
	}
}

func (f *forGuest[Outer, Inner]) exempt() bool { return f.item.exempt() }

func (f *forGuest[Outer, Inner]) follows() bool {
	task, ok := f.item.task.(follower)
	return ok && task.follows()
}

func (f *forGuest[Outer, Inner]) undelivered() (any, bool) { return f.item.undelivered() }
