package actor

// handleMessage passes msg to the behavior, and continues as that says.
func (c *cell[M]) handleMessage(msg M) {
	if c.timers.idle != nil {
		c.timers.idle.told(msg)
	}
	if next := c.onMessage(current(c), msg); next != nil && !c.become(next) {
		c.unhandled(msg)
	}
}

// handleTaskMessage is handleMessage for the message of a task, which may be for an inner cell.
func (c *cell[M]) handleTaskMessage(msg M) {
	if outer := c.outer(); outer != nil {
		outer.told(msg)
	}
	c.handleMessage(msg)
}

// handleSignal passes sig to the behavior, and continues as that says. If sig is not handled, the
// actor fails with unhandled.
func (c *cell[M]) handleSignal(sig Signal, unhandled error) {
	if next := c.tellSignal(sig); next != nil && !c.become(next) {
		c.fail(unhandled)
	}
}

// become continues as b says; false means that the message or signal is unhandled.
func (c *cell[M]) become(b Behavior[M]) (handled bool) {
	if outer := c.outer(); outer != nil {
		return outer.become(b)
	}
	n := &c.scratch
	n.cell, n.starting = c, c.core.phase == starting
	b(current(c), n)
	if n.same() && !n.starting {
		return true
	}
	said := *n
	c.scratch = Next[M]{}
	return c.obey(&said)
}

// obey does what a behavior has filled in.
func (c *cell[M]) obey(n *Next[M]) (handled bool) {
	switch {
	case n.err() != nil:
		c.fail(n.err())
	case n.stop:
		c.beginStop(nil)
	case n.starting && (n.unhandled || n.OnMessage == nil):
		c.fail(errNoBehavior)
	case n.unhandled:
		c.supervision.keep()
		return false
	default:
		if n.layered {
			c.supervision.replaced = nil
		}
		c.install(n)
	}
	return true
}

func (c *cell[M]) install(n *Next[M]) {
	if c.core.phase == running && (n.OnMessage != nil || n.wrapping() != nil) {
		c.closeBypass()
	}
	if n.wrapping() != nil || c.wrapping != nil {
		w := c.wrapping.after(n, c.onMessage, c.onSignal)
		c.own().wrapping, n.rest = w, nil
		c.onMessage, c.onSignal = w.compose()
		return
	}
	if n.OnMessage != nil {
		c.onMessage = n.OnMessage
	}
	if n.OnSignal != nil || n.mute {
		c.onSignal = n.OnSignal
	}
}

// unhandled publishes msg, unless it is such an event itself, to avoid a loop.
func (c *cell[M]) unhandled(msg any) {
	if _, circular := msg.(UnhandledMessage); !circular {
		c.core.sys.events.publish(UnhandledMessage{Recipient: c.core.actor().fullPath(), Message: msg})
	}
}

// tellSignal passes sig to the behavior, which must exist, and returns its result.
func (c *cell[M]) tellSignal(sig Signal) Behavior[M] {
	if c.onSignal == nil {
		return ignoreSignal[M](sig)
	}
	return c.onSignal(&c.ctx, sig)
}

// ignoreSignal is the result of a behavior without a signal handler: the end of a watched actor and
// the failure of an adapter are unhandled, other signals are ignored.
func ignoreSignal[M any](sig Signal) Behavior[M] {
	switch sig.(type) {
	case Terminated, ChildFailed, AdaptFailed:
		return func(_ *Context[M], n *Next[M]) { n.Unhandled() }
	case PostStop, PreRestart:
	}
	return nil
}
