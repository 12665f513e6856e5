package actor

import (
	"errors"
	"slices"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

var errNoBehavior = errors.New("actor: the first behavior must handle messages or stop; Same and Unhandled cannot be first")

// Without layers the actor stops.
func (c *cell) fail(err error) {
	c.box.forget() // a transition that failed
	if in := c.inner(); in != nil {
		in.of.fail(err)
		return
	}
	c.tally.counts.failures.Add(1)
	c.span.fail(err)
	if r := c.runner.Load(); r != nil && r.request.Load() != nil {
		r.failure = err
	}
	if isFinal(err) {
		c.stopFailed(err)
		return
	}
	for i := range slices.Backward(c.supervision.layers) {
		if c.apply(i, err) {
			return
		}
	}
	c.failUp(err)
}

// False means that the enclosing layer decides.
func (c *cell) apply(i int, err error) bool {
	l := c.supervision.layers[i]
	switch d := l.decide(c, err); {
	case d == Escalate:
		return false
	case d == Resume && c.core.phase != starting:
		c.supervision.keep()
		l.log(c, zapcore.WarnLevel, "actor failed; resuming", err)
	case d == Restart && l.mayRestart(c.core.phase):
		c.tryRestart(i, err)
	default:
		l.stop(c, err)
	}
	return true
}

const stoppingMessage = "actor failed; stopping"

func (l *layer) stop(c *cell, err error) {
	l.log(c, zapcore.ErrorLevel, stoppingMessage, err)
	c.beginStop(err)
}

func (c *cell) tryRestart(i int, err error) {
	l := c.supervision.layers[i]
	delay, ok := l.ledger.admit(l.strategy, time.Now())
	if !ok {
		l.log(c, zapcore.ErrorLevel, "actor failed; restart limit reached, stopping", err,
			zap.Int("restarts_allowed", max(l.strategy.Limit, 0)), zap.Duration("window", l.strategy.Window))
		c.beginStop(err)
		return
	}
	l.log(c, zapcore.WarnLevel, "actor failed; restarting", err, zap.Duration("delay", delay))
	c.beginRestart(i, err, delay)
}

// The next incarnation starts after the end of the children and the delay.
func (c *cell) beginRestart(i int, err error, delay time.Duration) {
	s := c.supervision.layers[i].strategy
	c.tally.counts.restarts.Add(1)
	c.core.phase, c.supervision.restart = restarting, i
	c.timers.stop()
	c.setSuspended(true, s.StashCapacity)
	c.endIncarnation(PreRestart{Err: err}, i)
	c.watched.endAll()
	c.supervision.delay = delay
	c.supervision.awaiting = !s.KeepChildren && c.core.stopChildren()
	if !c.supervision.awaiting {
		c.resumeLater()
	}
}

func (c *core) stopChildren() (awaited bool) {
	c.mu.Lock()
	living, awaited := c.awaitChildren()
	c.mu.Unlock()
	stopAll(living)
	return awaited
}

// The children have ended.
func (c *cell) resumeLater() {
	epoch := c.epoch
	c.supervision.resumeAfter(func() { c.signal(systemMsg{kind: sysResume, epoch: epoch}) })
}

// The parent fails too if there was a strategy.
func (c *cell) failUp(err error) {
	if len(c.supervision.layers) == 0 {
		c.stopFailed(err)
		return
	}
	c.core.parent.node().signal(systemMsg{kind: sysEscalated, child: &c.core, err: err})
	c.supervision.layers[0].stop(c, err)
}

func (c *cell) stopFailed(err error) {
	logWithStack(c.logger(), zapcore.ErrorLevel, stoppingMessage, err)
	c.beginStop(err)
}

func (c *cell) refused() bool {
	reason := c.conf.checkAdmission()
	if reason == nil {
		return false
	}
	c.stopFailed(reason)
	return true
}
