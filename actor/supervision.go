package actor

import (
	"errors"
	"time"

	"github.com/understudy-go/understudy/internal/guard"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
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
