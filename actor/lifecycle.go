package actor

import (
	"slices"
	"time"

	"go.uber.org/zap"
)

func (c *cell[M]) handleSystem(msg systemMsg) {
	switch msg.kind {
	case sysStart:
		c.start()
	case sysStop:
		c.beginStop(nil)
	case sysChildEnded:
		c.childEnded()
	case sysEscalated:
		if c.phase < stopping {
			c.fail(&EscalatedError{Child: msg.child.fullPath(), Err: msg.err})
		}
	case sysResume:
		if c.phase == restarting && msg.epoch == c.epoch {
			c.start()
		}
	}
}

// start runs the first behavior of an incarnation: the one it was spawned with, or the
// one that the restarting layer supervises.
func (c *cell[M]) start() {
	c.phase = starting
	first := c.layers[c.restart].initial
	c.layers[c.restart].ledger.started = time.Now()
	c.layers = c.layers[:c.restart+1]
	c.onMessage, c.onSignal = nil, nil
	c.become(first, nil)
	if c.phase != starting {
		return
	}
	if c.restart < c.base || c.base == 0 {
		c.base = len(c.layers)
	}
	c.phase = running
	c.setSuspended(false, 0)
}

// become goes on as b says; handled is what the previous behavior was given.
func (c *cell[M]) become(b Behavior[M], handled any) {
	if b == nil && c.phase != starting {
		return
	}
	n := &c.scratch
	*n = Next[M]{cell: c, starting: c.phase == starting}
	if b != nil {
		b(&c.ctx, n)
	}
	switch {
	case n.err != nil:
		c.fail(n.err)
	case n.stop:
		c.beginStop(nil)
	case n.starting && n.OnMessage == nil:
		c.fail(errNoBehavior)
	case n.unhandled:
		c.unhandled(handled)
	default:
		c.install(n)
	}
}

func (c *cell[M]) install(n *Next[M]) {
	if n.OnMessage != nil {
		c.onMessage = n.OnMessage
	}
	if n.OnSignal != nil {
		c.onSignal = n.OnSignal
	}
}

func (c *cell[M]) unhandled(handled any) {
	switch sig := handled.(type) {
	case Terminated:
		c.fail(&DeathPactError{Ref: sig.Ref})
	case ChildFailed:
		c.fail(&DeathPactError{Ref: sig.Ref, Cause: sig.Err})
	default:
		c.sys.events.Publish(UnhandledMessage{Recipient: c.fullPath(), Message: handled})
	}
}

// tellSignal gives sig to the behavior, which must exist, and returns its answer.
func (c *cell[M]) tellSignal(sig Signal) Behavior[M] {
	if c.onSignal == nil {
		return ignoreSignal[M](sig)
	}
	return c.onSignal(&c.ctx, sig)
}

// ignoreSignal is the answer of a behavior without a signal handler: the end of a
// watched actor is unhandled, the rest does not matter.
func ignoreSignal[M any](sig Signal) Behavior[M] {
	switch sig.(type) {
	case Terminated, ChildFailed:
		return func(_ *Context[M], n *Next[M]) { n.Unhandled() }
	}
	return nil
}

// beginStop stops the children; the last of them to end lets the actor itself end.
func (c *cell[M]) beginStop(cause error) {
	if c.phase >= stopping {
		return
	}
	c.phase, c.cause = stopping, cause
	c.life.end()
	c.stopTimers()
	c.setSuspended(true, 0)
	if c.stopChildren() == 0 {
		c.finish()
	}
}

func (c *cell[M]) childEnded() {
	if c.phase != stopping && c.phase != restarting || c.childCount() > 0 {
		return
	}
	if c.phase == stopping {
		c.finish()
	} else if c.awaiting {
		c.childrenGone()
	}
}

// finish ends the actor: PostStop to the behavior it ended with, cleanups, mailbox to
// dead letters, its name given back, watchers and parent told; in that order.
func (c *cell[M]) finish() {
	c.phase = stopped
	c.endIncarnation(PostStop{}, 0)
	c.unwatchAll()
	c.mu.Lock()
	c.dead = true
	rest := c.queue.drain()
	watchers := c.watchers
	c.watchers, c.system = nil, nil
	c.mu.Unlock()
	c.life.release()
	for _, a := range c.adapters {
		c.sys.unexport(a.uid)
	}
	for _, it := range rest {
		c.reportUndelivered(it, ErrTerminated)
	}
	c.parent.forgetChild(&c.core)
	for _, w := range watchers {
		w.tell(&c.core, c.cause)
	}
	c.parent.impl.signal(systemMsg{kind: sysChildEnded, child: &c.core})
}

// A cleanup is a function given to Defer, with how many layers there were then.
type cleanup struct {
	depth int
	run   func()
}

// endIncarnation gives the last signal to the behavior, if there ever was one, and runs
// the cleanups that were deferred inside the given number of layers. What panics here is
// logged; it cannot fail an actor that has ended.
func (c *cell[M]) endIncarnation(last Signal, outside int) {
	if c.onMessage != nil {
		c.guard("signal handler", func() { c.tellSignal(last) })
	}
	var kept []cleanup
	for _, d := range slices.Backward(c.cleanups) {
		if d.depth > outside {
			c.guard("deferred function", d.run)
		} else {
			kept = append(kept, d)
		}
	}
	slices.Reverse(kept)
	c.cleanups = kept
	c.onMessage, c.onSignal = nil, nil
	c.epoch++
}

// guard runs f; a panic, or the end of its goroutine, is logged.
func (c *cell[M]) guard(what string, f func()) {
	if err := protect(f); err != nil {
		c.ctx.Log().Error("panic while an actor ends", zap.String("in", what), zap.Error(err))
	}
}

func (c *cell[M]) setSuspended(suspended bool, capacity int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.suspended, c.stashCap = suspended, capacity
}

func (c *cell[M]) stopTimers() {
	c.timers.cancelAll()
	if c.backoff != nil {
		c.backoff.Stop()
	}
	c.ctx.CancelReceiveTimeout()
}
