package actor

import (
	"fmt"
	"slices"
	"time"

	"github.com/understudy-go/understudy/internal/guard"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
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
		if c.phase == running { // else the child's incarnation of the parent has ended
			c.fail(fmt.Errorf("%w by %s: %w", ErrEscalated, msg.child.fullPath(), msg.err))
		}
	case sysResume:
		if c.phase == restarting && msg.epoch == c.epoch {
			c.start()
		}
	}
}

// start runs the first behavior of an incarnation: the one that the cell was spawned with, or the
// one that the restarting layer supervises.
func (c *cell[M]) start() {
	c.phase = starting
	first, around := c.initial, []wrapper[M](nil)
	if len(c.layers) > 0 {
		c.layers, c.replaced = c.layers[:c.restart+1], nil
	}
	if c.restart >= 0 {
		l := c.layers[c.restart]
		first, around, l.ledger.started = l.initial, l.around, time.Time{}
	}
	c.unwrapTo(around)
	c.onMessage, c.onSignal = nil, nil
	c.become(first)
	if c.phase != starting {
		return
	}
	if c.extras != &c.conf.none && (c.restart < c.base || c.base < 0) {
		c.base = len(c.layers)
		c.wrapping.setBase()
	}
	c.phase = running
	for _, l := range c.layers[max(c.restart, 0):] {
		l.ledger.started = time.Now()
	}
	c.setSuspended(false, 0)
}

// beginStop stops the children; when the last of them has ended, the actor ends.
func (c *cell[M]) beginStop(cause error) {
	if c.phase >= stopping {
		return
	}
	c.phase = stopping
	c.senders.close()
	c.endBy(cause)
	c.endLife()
	c.stopTimers()
	c.setSuspended(true, 0)
	c.closeToChildren()
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

// finish ends the actor, in this order: PostStop to the last behavior, cleanups, dead letters of
// the mailbox, release of the name, notification of watchers and parent.
func (c *cell[M]) finish() {
	c.phase = stopped
	c.endIncarnation(PostStop{}, -1)
	c.unwatchAll()
	c.mu.Lock()
	c.dead = true
	rest := append(c.drain(), c.senders.takeParked()...)
	c.system = systemMsgs{}
	c.mu.Unlock()
	c.releaseLife()
	if len(rest) > 0 {
		c.reportRest(rest)
	}
	c.parent.forgetChild(&c.core)
	c.tellWatchers()
	c.parent.departed()
	c.parent.node().signal(systemMsg{kind: sysChildEnded, child: &c.core})
}

// reportRest makes the remaining items dead letters.
func (c *cell[M]) reportRest(rest []item[M]) {
	reason := c.reasonOfRest()
	for _, it := range rest {
		c.reportUndelivered(it, reason)
	}
}

// A cleanup is a function given to Defer.
type cleanup struct {
	depth int
	run   func()
	of    any // what may take it out again; nil for what stays
}

// endIncarnation passes the last signal to the behavior, if there ever was one, and runs the
// cleanups that were deferred inside layer; -1 means all. Panics in them are logged; they cannot
// fail an actor that has ended.
func (c *cell[M]) endIncarnation(last Signal, layer int) {
	if c.onSignal != nil && !c.sys.halt.begun.Load() {
		c.guard("signal handler", func() { c.tellSignal(last) })
	}
	c.runCleanups(layer)
	c.abandonAsks()
	c.onMessage, c.onSignal = nil, nil
	c.epoch++
}

// runCleanups runs the cleanups that were deferred inside layer, and those that they defer.
func (c *cell[M]) runCleanups(layer int) {
	if len(c.cleanups) == 0 {
		return
	}
	var kept []cleanup
	for len(c.cleanups) > 0 {
		end := len(c.cleanups) - 1
		last := c.cleanups[end]
		c.cleanups = c.cleanups[:end]
		if last.depth > layer {
			c.guard("deferred function", last.run)
		} else {
			kept = append(kept, last)
		}
	}
	slices.Reverse(kept)
	c.cleanups = kept
}

// guard runs f, and logs a panic or the end of its goroutine.
func (c *cell[M]) guard(what string, f func()) {
	if err := guard.Apart(c.senders.lend(c.owner.lend(f))); err != nil {
		c.logOutside(what, err)
	}
}

// logOutside logs a failure that no supervision decides about.
func (c *core) logOutside(what string, err error) {
	logWithStack(c.sys.log, zapcore.ErrorLevel, "failure outside of supervision", err, zap.String("actor", c.actor().path()), zap.String("in", what))
}

func (c *cell[M]) stopTimers() {
	c.timers.cancelAll()
	if c.backoff != nil {
		c.backoff.Stop()
	}
	c.cancelReceiveTimeout()
}
