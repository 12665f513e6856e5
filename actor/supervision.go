package actor

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/understudy-go/understudy/internal/guard"
)

type supervision struct {
	layers   []*layer      // the innermost last
	base     int           // how many of them the first behavior has set; -1 before it has run
	replaced []*layer      // the layers before the current transition; nil if unchanged
	restart  int           // index of the restarting layer; -1 while the actor starts
	awaiting bool          // the restart waits for children
	delay    time.Duration // of the restart, after their end
	backoff  *time.Timer
}

type layer struct {
	initial  any
	strategy Strategy
	ledger   ledger
	around   []wrapper // its handlers, put there outside
}

// Layers added by a handler replace those of earlier handlers.
func (s *supervision) add(l *layer, n *next) {
	if !n.starting && !n.layered {
		s.replaced = append([]*layer{}, s.layers...)
		s.layers = s.layers[:s.base]
	}
	s.layers = append(s.layers, l)
}

// The transition was not completed.
func (s *supervision) keep() {
	if s.replaced != nil {
		s.layers, s.replaced = s.replaced, nil
	}
}

// Unless a layer restarts, both are nil.
func (s *supervision) rewind() (first any, around []wrapper) {
	if len(s.layers) > 0 {
		s.layers, s.replaced = s.layers[:s.restart+1], nil
	}
	if s.restart < 0 {
		return nil, nil
	}
	l := s.layers[s.restart]
	l.ledger.started = time.Time{}
	return l.initial, l.around
}

// setBase does nothing unless the first behavior has just run.
func (s *supervision) setBase() (set bool) {
	if s.base >= 0 && s.restart >= s.base {
		return false
	}
	s.base = len(s.layers)
	return true
}

// The layers are those with which the incarnation has begun.
func (s *supervision) started() {
	for _, l := range s.layers[max(s.restart, 0):] {
		l.ledger.started = time.Now()
	}
}

func (s *supervision) resumeAfter(resume func()) {
	s.awaiting = false
	if s.delay == 0 {
		resume()
		return
	}
	s.backoff = time.AfterFunc(s.delay, resume)
}

func (s *supervision) cancel() {
	if s.backoff != nil {
		s.backoff.Stop()
	}
}

// An error that is final for a child is not final for the parent that watches it.
func isFinal(err error) bool {
	if guard.Is(err, ErrDeathPact) {
		return false
	}
	final, _ := guard.Value(func() bool {
		var f interface{ Final() bool }
		return errors.As(err, &f) && f.Final()
	})
	return final
}

func (l *layer) decide(c *cell, err error) (d Directive) {
	l.ledger.failed(l.strategy, time.Now())
	d = Stop
	c.guard("supervision decider", func() { d = l.strategy.decide(err) })
	return d
}

// The first behavior has failed.
func (l *layer) mayRestart(p phase) bool {
	return p != starting || l.strategy.Limit != 0 || l.strategy.Backoff.Min != 0
}

// The strategy may choose another level than usual.
func (l *layer) log(c *cell, usual zapcore.Level, what string, err error, more ...zap.Field) {
	level := usual
	if l.strategy.LogLevel != nil {
		c.guard("supervision log level", func() { level = l.strategy.LogLevel(err, l.ledger.inARow) })
	}
	if level == zapcore.InvalidLevel {
		return
	}
	logWithStack(c.logger(), min(level, zapcore.ErrorLevel), what, err, more...)
}

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
	if delay > 0 {
		explainAll(&c.inbox, fmt.Errorf("the actor waits %v until it is started again after a failure: %w", delay, err), true)
	}
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
