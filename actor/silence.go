package actor

import (
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/metadata"
)

// The ask got no reply in time; its request is given up. waits is why that waits, if known.
func (c *core) silenceError(waited time.Duration, err, waits error, r *metadata.Request) error {
	if why := c.actor().silence(); why != nil {
		err = fmt.Errorf("%w: %w", err, why)
	} else if waits != nil {
		err = fmt.Errorf("%w: %w", err, waits)
	}
	if r.GiveUp() {
		return fmt.Errorf("ask %s: no reply after %v: %w: %w", c.fullPath(), waited, err, ErrWithdrawn)
	}
	return fmt.Errorf("ask %s: no reply after %v, %w: %w", c.fullPath(), waited, fateOf(r, c.sys), err)
}

var (
	errMayBeHandled  = errors.New("and the request may still be handled")
	errStillHandled  = errors.New("and the request is still being handled")
	errHandledSilent = errors.New("and the handler of its request has returned")
)

// Only of an actor of this node is it known that its handler has returned. It may have kept the ref
// to reply to, for later.
func fateOf(r *metadata.Request, s *System) error {
	switch {
	case r.Away() || r.Shared():
		return errMayBeHandled
	case s.scheduler.handles(r):
		return errStillHandled
	}
	return errHandledSilent
}

func (s internals) OnAskTimeout(why func(path string) error) {
	for {
		before := s.why.Load()
		all := []func(path string) error{why}
		if before != nil {
			all = append(all, *before...)
		}
		if s.why.CompareAndSwap(before, &all) {
			return
		}
	}
}

func (c *core) silence() error {
	if c.address() != c.sys.address {
		return nil
	}
	why := c.sys.why.Load()
	if why == nil {
		return nil
	}
	for _, f := range *why {
		reason, err := guard.Value(func() error { return f(c.path()) })
		if err != nil {
			c.sys.log.Error("function of OnAskTimeout has panicked", zap.String("asked", c.fullPath()), zap.Error(err))
		}
		if reason != nil {
			return reason
		}
	}
	return nil
}

// longAsk is how long an ask without a deadline waits before it is logged, once.
const longAsk = 30 * time.Second

func (s *System) warnOfLongAsk(asked *core) {
	if now, _ := s.longAsks.admit(time.Now()); now {
		s.log.Warn("ask without a deadline has no reply yet: give its context one",
			zap.String("asked", asked.fullPath()), zap.Duration("waited", longAsk))
	}
}

// If the handler has panicked, the turn ends the ask, once the actor has dealt with the failure.
func failedAt(c *cell, msg any) {
	r := c.runner.Load()
	if r.failure == nil {
		r.inHand = msg
		return
	}
	err := r.failure
	r.failure = nil
	refuseFailed(c, msg, err)
}

// Without that, asks of singletons and entities would wait for their deadlines: they watch the
// router. An actor that supervision lets go on has kept what it knew, and may still reply.
func refuseFailed(c *cell, msg any, err error) {
	if phase := c.core.actor().phase; phase != restarting && phase < stopping {
		return
	}
	err = fmt.Errorf("%w: %w", ErrHandlerFailed, err)
	if c.core.actor().phase >= stopping {
		err = fmt.Errorf("%w: %w", ErrTerminated, err)
	}
	for _, ref := range c.core.sys.refsOf(msg) {
		ref.refuse("", err)
	}
}
