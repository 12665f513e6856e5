package actor

import (
	"cmp"
	"fmt"
	"slices"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/understudy-go/understudy/internal/guard"
)

func (c *cell) handleSystem(msg systemMsg) {
	switch msg.kind {
	case sysStart:
		c.start()
	case sysStop:
		c.beginStop(nil)
	case sysChildEnded:
		c.childEnded()
	case sysEscalated:
		if c.core.phase == running { // else the child's incarnation of the parent has ended
			c.fail(fmt.Errorf("%w by %s: %w", ErrEscalated, msg.child.fullPath(), msg.err))
		}
	case sysRest:
		c.rest()
	case sysResume:
		if c.core.phase == restarting && msg.epoch == c.epoch {
			c.start()
		}
	}
}

func (c *cell) start() {
	c.core.phase = starting
	first, around := c.supervision.rewind()
	c.unwrapTo(around)
	c.box.begin(first)
	if c.core.phase != starting {
		return
	}
	if c.extras != &noExtras && c.supervision.setBase() {
		c.wrapping.setBase()
	}
	c.core.phase = running
	c.supervision.started()
	if r := c.conf.returns; r != nil {
		if err := r.owner.Begun(c.core.label); err != nil {
			c.stopFailed(err) // supervision has no say: what begins again would be the same
			return
		}
		c.core.flags.note(0, r.rounds.Load())
	}
	c.setSuspended(false, 0)
}

func (c *cell) beginStop(cause error) {
	if c.core.phase >= stopping {
		return
	}
	// The phase is first: what follows calls code of users, which may fail or stop the actor again.
	c.core.phase = stopping
	c.senders.close()
	c.core.endBy(cause)
	c.endLife()
	c.timers.stop()
	c.supervision.cancel()
	children, awaited := c.closeDown()
	stopAll(children)
	if !awaited {
		c.finish()
	}
}

func (c *cell) childEnded() {
	if c.core.phase != stopping && c.core.phase != restarting || c.core.childCount() > 0 {
		return
	}
	if c.core.phase == stopping {
		c.finish()
	} else if c.supervision.awaiting {
		c.resumeLater()
	}
}

// The order: PostStop to the last behavior, cleanups, dead letters of the mailbox, release of the
// name, notification of watchers and parent.
func (c *cell) finish() {
	c.core.phase = stopped
	c.endIncarnation(PostStop{}, -1)
	c.watched.endAll()
	c.core.mu.Lock()
	// In one critical section with the drain: a message comes before and is among the rest, or
	// after and is refused. None is left in a mailbox that has no turns any more.
	c.core.dead, c.core.plain = true, false
	rest := append(c.drain(), c.senders.takeParked()...)
	c.due = 0
	if of := c.core.relations; of != nil {
		of.others = nil
	}
	checkState(&c.core)
	c.core.mu.Unlock()
	c.releaseLife()
	c.tally.flush()
	c.tally.counts.stopped.Add(1)
	abandoned := c.core.flags.has(abandoned)
	switch {
	case c.conf.returns != nil && !abandoned:
		c.giveBack(rest)
	case len(rest) > 0:
		c.reportRest(rest)
	}
	// Last: once the name is free, another actor may have it, and watchers expect that nothing of
	// this one runs any more.
	if !abandoned { // else it has left
		c.core.leaveTree()
	}
}

// If the admission check refuses the items, its reason is theirs.
func (c *cell) reportRest(rest []item) {
	reason := ErrTerminated
	if c.conf.admission != nil {
		failure := guard.Apart(c.senders.lend(c.core.owner.lend(func() { reason = cmp.Or(c.conf.checkAdmission(), reason) }))) // the end must not end half-way
		reason = cmp.Or(failure, reason)
	}
	for _, it := range rest {
		c.reportUndelivered(it, reason)
	}
}

// The cleanups of layer run; -1 means all. Panics in them are logged: they cannot fail an actor
// that has ended.
func (c *cell) endIncarnation(last Signal, layer int) {
	if c.box.handlers().signal != nil && !c.core.sys.halt.begun.Load() {
		c.guard("signal handler", func() { c.box.signal(last) })
	}
	c.cleanups.run(layer, c.guard)
	why := ErrStaleHandler
	if c.core.phase == stopped {
		why = ErrTerminated
	}
	abandonAll(&c.asks, why)
	c.box.setHandlers(handlers{})
	c.epoch++
}

// guard logs also the end of its goroutine.
func (c *cell) guard(what string, f func()) {
	if err := guard.Apart(c.senders.lend(c.core.owner.lend(f))); err != nil {
		c.core.logOutside(what, err)
	}
}

func (c *core) logOutside(what string, err error) {
	logWithStack(c.actor().lineLog(), zapcore.ErrorLevel, "failure outside of supervision", err, zap.String("in", what))
}

// Abandon takes an actor that Spawn has returned out of the tree, although one of its handlers does
// not return. Its name is free, and its parent waits for it no longer. Its watchers, and asks that
// wait for it, learn that why has ended it. What waits in its mailbox is given back. If the handler
// returns after all, the actor ends then, and what it had in hand is given back late.
//
// Abandon returns false, and does nothing, if the actor has ended.
func (r *returning) Abandon(of AnyRef, why error) bool {
	c := of.target().impl.(*cell) // Spawn has made it
	rest, done := takeAbandoned(&c.inbox, why)
	if !done {
		return false
	}
	stopAll(c.core.childList()) // its own stop comes too late for them
	c.giveBack(rest)
	c.core.leaveTree()
	return true
}

// What the turn has in hand stays there: no other goroutine may touch it.
func takeAbandoned(b *inbox, why error) (rest []item, done bool) {
	b.core.mu.Lock()
	defer b.core.mu.Unlock()
	if b.core.dead || b.core.flags.has(abandoned) {
		return nil, false
	}
	b.core.flags.set(abandoned)
	b.rests()
	b.core.ownRelations().cause = why
	rest = b.box.drainQueue(nil)
	if b.conf.box.overflow == block { // else only the turn may read the extras
		rest = append(rest, b.senders.takeParked()...)
	}
	checkState(&b.core)
	return rest, true
}

type cleanup struct {
	depth int
	run   func()
	of    any // what may take it out again; nil for what stays
}

// The last one runs first.
type cleanups []cleanup

func (l *cleanups) add(c cleanup) { *l = append(*l, c) }

func (l *cleanups) drop(owner any) {
	*l = slices.DeleteFunc(*l, func(c cleanup) bool { return c.of == owner })
}

// run runs also what they defer.
func (l *cleanups) run(layer int, guard func(what string, f func())) {
	if len(*l) == 0 {
		return
	}
	var kept []cleanup
	for len(*l) > 0 {
		end := len(*l) - 1
		last := (*l)[end]
		*l = (*l)[:end]
		if last.depth > layer {
			guard("deferred function", last.run)
		} else {
			kept = append(kept, last)
		}
	}
	slices.Reverse(kept)
	*l = kept
}
