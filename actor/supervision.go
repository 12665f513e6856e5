package actor

import (
	"errors"
	"time"

	"github.com/understudy-go/understudy/internal/guard"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// supervision is the strategies of a cell, and the restart that is under way.
type supervision struct {
	layers   []*layer      // the innermost last
	base     int           // how many of them the first behavior has set; -1 before it has run
	replaced []*layer      // the layers before the current transition; nil if unchanged
	restart  int           // index of the restarting layer; -1 while the actor starts
	awaiting bool          // the restart waits for children
	delay    time.Duration // of the restart, after their end
	backoff  *time.Timer
}

// A layer is one strategy, and the behavior that it restarts.
type layer struct {
	initial  any // a Behavior
	strategy Strategy
	ledger   ledger
	around   []wrapper // its handlers, put there outside
}

// add adds a layer. Layers added by a handler replace those of earlier handlers.
func (s *supervision) add(l *layer, n *next) {
	if !n.starting && !n.layered {
		s.replaced = append([]*layer{}, s.layers...)
		s.layers = s.layers[:s.base]
	}
	s.layers = append(s.layers, l)
}

// keep restores the layers from before a transition that was not completed.
func (s *supervision) keep() {
	if s.replaced != nil {
		s.layers, s.replaced = s.replaced, nil
	}
}

// rewind returns the first behavior of an incarnation and what is around it: those of the
// restarting layer, or else nil.
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

// setBase declares the current layers to be those of the first behavior, if that has just run.
func (s *supervision) setBase() (set bool) {
	if s.base >= 0 && s.restart >= s.base {
		return false
	}
	s.base = len(s.layers)
	return true
}

// started notes that the layers which the incarnation has begun with run.
func (s *supervision) started() {
	for _, l := range s.layers[max(s.restart, 0):] {
		l.ledger.started = time.Now()
	}
}

// resumeAfter calls resume after the delay of the restart.
func (s *supervision) resumeAfter(resume func()) {
	s.awaiting = false
	if s.delay == 0 {
		resume()
		return
	}
	s.backoff = time.AfterFunc(s.delay, resume)
}

// cancel cancels the restart.
func (s *supervision) cancel() {
	if s.backoff != nil {
		s.backoff.Stop()
	}
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

// decide counts a failure and asks the strategy what to do about it.
func (l *layer) decide(c *cell, err error) (d Directive) {
	l.ledger.failed(l.strategy, time.Now())
	d = Stop
	c.guard("supervision decider", func() { d = l.strategy.decide(err) })
	return d
}

// mayRestart reports whether the strategy restarts an actor whose first behavior has failed.
func (l *layer) mayRestart(p phase) bool {
	return p != starting || l.strategy.Limit != 0 || l.strategy.Backoff.Min != 0
}

// log logs a failure at the level that the strategy chooses, or else at usual.
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
