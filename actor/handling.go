package actor

func handleMessage[M any](x *box[M], msg M) {
	c := &x.cell
	if c.timers.idle != nil {
		c.timers.idle.told(msg)
	}
	if next := x.onMessage(current(x), msg); next != nil && !become(x, next, nil) {
		c.unhandled(msg)
	}
}

// The ask ends if the handler fails.
func handleRequest[M any](x *box[M], msg M) {
	failed := true
	defer func() {
		if failed {
			failedAt(&x.cell, msg)
		}
	}()
	handleMessage(x, msg)
	failed = x.cell.runner.Load().failure != nil
	handledRequest(&x.cell)
}

// handle handles it.
func handleAnyRequest(c *cell, msg any, handle func(msg any)) {
	failed := true
	defer func() {
		if failed {
			failedAt(c, msg)
		}
	}()
	handle(msg)
	failed = c.runner.Load().failure != nil
	handledRequest(c)
}

func (x *box[M]) handle(msg any) {
	m, _ := msg.(M) // a nil is the zero value
	handleMessage(x, m)
}

func handleTask[M any](c *cell, msg M) {
	if in := c.inner(); in != nil {
		in.told(msg)
	}
	handleMessage(c.box.(*box[M]), msg)
}

func (x *box[M]) receive(msg any) (next any) {
	m, _ := msg.(M)
	return boxedBehavior(x.onMessage(current(x), m))
}

func (x *box[M]) signal(sig Signal) (next any) {
	handle := x.onSignal
	if handle == nil {
		handle = ignoreSignal[M]
	}
	return boxedBehavior(handle(&x.ctx, sig))
}

// A nil Behavior is nil.
func boxedBehavior[M any](b Behavior[M]) any {
	if b == nil {
		return nil
	}
	return b
}

// The end of a watched actor and the failure of an adapter are unhandled, other signals are
// ignored.
func ignoreSignal[M any](_ *Context[M], sig Signal) Behavior[M] {
	switch sig.(type) {
	case Terminated, ChildFailed, AdaptFailed:
		return unhandled[M]
	case PostStop, PreRestart:
	}
	return nil
}

func unhandled[M any](_ *Context[M], n *Next[M]) { n.Unhandled() }

func (x *box[M]) begin(first any) {
	x.onMessage, x.onSignal = nil, nil
	b := x.initial
	if first != nil {
		b = first.(Behavior[M])
	}
	become(x, b, nil)
}

func (x *box[M]) become(next any, keep func(n *next) bool) (handled bool) {
	return become(x, next.(Behavior[M]), keep)
}

// False means that the message or signal is unhandled. keep, unless it is nil, sees what b has
// filled in, and returns false if the actor is to stay as it is.
func become[M any](x *box[M], b Behavior[M], keep func(n *next) bool) (handled bool) {
	c := &x.cell
	if in := c.inner(); in != nil {
		return in.around.become(b, keep)
	}
	n := &x.scratch
	n.next.starting = c.core.phase == starting
	b(current(x), n)
	if keep != nil && !keep(&n.next) {
		x.forget()
		return true
	}
	if same(n) && !n.next.starting {
		return true
	}
	said, t := taken(x)
	handled, set := c.obey(&said.next, &t, said.OnMessage != nil)
	if set {
		install(x, &said, &t)
	}
	return handled
}

func taken[M any](x *box[M]) (said Next[M], t transition) {
	said = x.scratch
	x.scratch = Next[M]{next: next{cell: &x.cell}}
	return said, x.cell.takeTransition()
}

func (x *box[M]) forget() { _, _ = taken(x) }

func same[M any](n *Next[M]) bool {
	return n.OnMessage == nil && n.OnSignal == nil && n.next.same()
}

func install[M any](x *box[M], n *Next[M], t *transition) {
	c := &x.cell
	if c.core.phase == running && (n.OnMessage != nil || t.wrapping != nil) {
		c.closeBypass()
	}
	if t.wrapping != nil || c.wrapping != nil {
		c.own().wrapping = c.wrapping.after(&n.next, t, handlersOf(n.OnMessage, n.OnSignal), x.handlers())
		wrap(x, c.wrapping)
		return
	}
	if n.OnMessage != nil {
		x.onMessage = n.OnMessage
	}
	if n.OnSignal != nil || n.next.mute {
		x.onSignal = n.OnSignal
	}
}

// nil stands for none.
type handlers struct{ message, signal any }

func handlersOf[M any](message MessageHandler[M], signal SignalHandler[M]) (h handlers) {
	if message != nil {
		h.message = message
	}
	if signal != nil {
		h.signal = signal
	}
	return h
}

func (x *box[M]) handlers() handlers { return handlersOf(x.onMessage, x.onSignal) }

func (x *box[M]) setHandlers(h handlers) {
	x.onMessage, _ = h.message.(MessageHandler[M])
	x.onSignal, _ = h.signal.(SignalHandler[M])
}

func wrap[M any](x *box[M], w *wrapping) {
	x.setHandlers(w.inside)
	if x.onSignal == nil {
		x.onSignal = ignoreSignal[M]
	}
	for i := len(w.around) - 1; i >= 0; i-- {
		layer := &w.around[i]
		if around, ok := layer.message.(func(MessageHandler[M]) MessageHandler[M]); ok && around != nil {
			x.onMessage = around(x.onMessage)
		}
		if around, ok := layer.signal.(func(SignalHandler[M]) SignalHandler[M]); ok && around != nil {
			x.onSignal = around(x.onSignal)
		}
		if layer.see != nil {
			x.onMessage, x.onSignal = observed(x, layer.see)
		}
	}
}

// An inner cell may be the one that handles it.
func (c *cell) handleTaskMessage(msg any) {
	if in := c.inner(); in != nil {
		in.told(msg)
	}
	c.box.handle(msg)
}

// If sig is not handled, the actor fails with unhandled.
func (c *cell) handleSignal(sig Signal, unhandled error) {
	if next := c.box.signal(sig); next != nil && !c.box.become(next, nil) {
		c.fail(unhandled)
	}
}

// set is true if the handlers that n has are to be set; handles says whether one is for messages.
func (c *cell) obey(n *next, t *transition, handles bool) (handled, set bool) {
	switch {
	case t.err != nil:
		c.fail(t.err)
	case n.stop:
		c.beginStop(nil)
	case n.starting && (n.unhandled || !handles):
		c.fail(errNoBehavior)
	case n.unhandled:
		c.supervision.keep()
		return false, false
	default:
		if n.layered {
			c.supervision.replaced = nil
		}
		return true, true
	}
	return true, false
}

// Such an event itself is not published, to avoid a loop.
func (c *cell) unhandled(msg any) {
	if _, circular := msg.(UnhandledMessage); !circular {
		c.core.sys.events.publish(UnhandledMessage{Recipient: c.core.actor().fullPath(), Message: msg})
	}
}
