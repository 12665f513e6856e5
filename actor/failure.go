package actor

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/understudy-go/understudy/internal/guard"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// errNoBehavior fails an actor whose first behavior sets no message handler.
var errNoBehavior = errors.New("actor: the first behavior must handle messages or stop; Same and Unhandled cannot be first")

// A layer is one strategy, and the behavior that it restarts.
type layer[M any] struct {
	initial  Behavior[M]
	strategy Strategy
	ledger   ledger
	around   []wrapper[M] // its handlers, put there outside
}

// supervise adds a layer. Layers added by a handler replace those of earlier handlers.
func (c *cell[M]) supervise(b Behavior[M], s Strategy, n *Next[M]) {
	c.own()
	if !n.starting && !n.layered {
		c.replaced = append([]*layer[M]{}, c.layers...)
		c.layers = c.layers[:c.base]
	}
	c.layers = append(c.layers, &layer[M]{initial: b, strategy: s, ledger: ledger{started: c.runsSince()}, around: n.around()})
}

// keepLayers restores the layers from before a transition that was not completed.
func (c *cell[M]) keepLayers() {
	if c.replaced != nil {
		c.layers, c.replaced = c.replaced, nil
	}
}

// runsSince returns when a layer that is added now begins to run; zero while the actor starts.
func (c *cell[M]) runsSince() (now time.Time) {
	if c.phase == running {
		now = time.Now()
	}
	return now
}

// fail asks the layers, from the inside out, what to do about err. Without layers the actor stops.
func (c *cell[M]) fail(err error) {
	c.scratch = Next[M]{} // of a transition that failed
	if outer := c.outer(); outer != nil {
		outer.fail(err)
		return
	}
	if isFinal(err) {
		c.stopFailed(err)
		return
	}
	for i := range slices.Backward(c.layers) {
		if c.apply(i, err) {
			return
		}
	}
	c.failUp(err)
}

// isFinal reports whether no strategy may decide about err. An error that is final for a child is
// not final for the parent that watches it.
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

// apply does what layer i decides; false means that the enclosing layer decides.
func (c *cell[M]) apply(i int, err error) bool {
	l := c.layers[i]
	l.ledger.failed(l.strategy, time.Now())
	switch c.decide(l, err) {
	case Resume:
		if c.phase == starting {
			c.stopBy(l, err)
			return true
		}
		c.keepLayers()
		c.logFailure(l, zapcore.WarnLevel, "actor failed; resuming", err)
	case Restart:
		c.tryRestart(i, err)
	case Escalate:
		return false
	default:
		c.stopBy(l, err)
	}
	return true
}

// stopBy ends the actor as l has decided.
func (c *cell[M]) stopBy(l *layer[M], err error) {
	c.logFailure(l, zapcore.ErrorLevel, stoppingMessage, err)
	c.beginStop(err)
}

// logFailure logs at the level that the strategy chooses, or else at usual.
func (c *cell[M]) logFailure(l *layer[M], usual zapcore.Level, what string, err error, more ...zap.Field) {
	level := usual
	if l.strategy.LogLevel != nil {
		c.guard("supervision log level", func() { level = l.strategy.LogLevel(err, l.ledger.inARow) })
	}
	if level == zapcore.InvalidLevel {
		return
	}
	logWithStack(c.ctx.Log(), min(level, zapcore.ErrorLevel), what, err, more...)
}

const stoppingMessage = "actor failed; stopping"

func (c *cell[M]) decide(l *layer[M], err error) (d Directive) {
	d = Stop
	c.guard("supervision decider", func() { d = l.strategy.decide(err) })
	return d
}

func (c *cell[M]) tryRestart(i int, err error) {
	l := c.layers[i]
	if c.phase == starting && l.strategy.Limit == 0 && l.strategy.Backoff.Min == 0 {
		c.stopBy(l, err)
		return
	}
	delay, ok := l.ledger.admit(l.strategy, time.Now())
	if !ok {
		c.logFailure(l, zapcore.ErrorLevel, "actor failed; restart limit reached, stopping", err,
			zap.Int("restarts_allowed", max(l.strategy.Limit, 0)), zap.Duration("window", l.strategy.Window))
		c.beginStop(err)
		return
	}
	c.logFailure(l, zapcore.WarnLevel, "actor failed; restarting", err, zap.Duration("delay", delay))
	c.beginRestart(i, err, delay)
}

// beginRestart ends the incarnation. The next one starts after the end of the children and the
// delay.
func (c *cell[M]) beginRestart(i int, err error, delay time.Duration) {
	s := c.layers[i].strategy
	c.phase, c.restart = restarting, i
	c.stopTimers()
	c.setSuspended(true, s.StashCapacity)
	c.endIncarnation(PreRestart{Err: err}, i)
	c.unwatchAll()
	c.delay = delay
	c.awaiting = !s.KeepChildren && c.stopChildren() > 0
	if !c.awaiting {
		c.childrenGone()
	}
}

func (c *cell[M]) childrenGone() {
	c.awaiting = false
	epoch := c.epoch
	resume := func() { c.signal(systemMsg{kind: sysResume, epoch: epoch}) }
	if c.delay == 0 {
		resume()
		return
	}
	c.backoff = time.AfterFunc(c.delay, resume)
}

// failUp ends the actor beyond the outermost strategy, and fails its parent if there was a
// strategy.
func (c *cell[M]) failUp(err error) {
	if len(c.layers) == 0 {
		c.stopFailed(err)
		return
	}
	c.parent.node().signal(systemMsg{kind: sysEscalated, child: &c.core, err: err})
	c.stopBy(c.layers[0], err)
}

// stopFailed ends the actor without asking a strategy.
func (c *cell[M]) stopFailed(err error) {
	logWithStack(c.ctx.Log(), zapcore.ErrorLevel, stoppingMessage, err)
	c.beginStop(err)
}

// refused calls the admission check, and ends the actor if it fails.
func (c *cell[M]) refused() bool {
	reason := c.checkAdmission()
	if reason == nil {
		return false
	}
	c.stopFailed(reason)
	return true
}

// checkAdmission calls the admission check; a panic counts as an error.
func (c *cell[M]) checkAdmission() error { return guard.Run(c.conf.admission) }

// reasonOfRest returns why the messages that remain when the actor ends are never handled.
func (c *cell[M]) reasonOfRest() error {
	if c.conf.admission == nil {
		return ErrTerminated
	}
	var reason error
	failure := guard.Apart(c.senders.lend(c.owner.lend(func() { reason = c.checkAdmission() }))) // the end must not end half-way
	return cmp.Or(failure, reason, ErrTerminated)
}
