package actor

import (
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/metadata"
)

// silenceError returns the error of an ask of c that got no reply in time, and gives its request
// up. waits is why that waits, if somebody has said so.
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

// What has become of a request.
var (
	errMayBeHandled  = errors.New("and the request may still be handled")
	errStillHandled  = errors.New("and the request is still being handled")
	errHandledSilent = errors.New("and the handler of its request has returned")
)

// fateOf says what has become of a request that an actor has taken. Only of an actor of this node
// is it known that its handler has returned. That may have kept the ref to reply to, for later.
func fateOf(r *metadata.Request, s *System) error {
	switch {
	case r.Away() || r.Shared():
		return errMayBeHandled
	case s.scheduler.handles(r):
		return errStillHandled
	}
	return errHandledSilent
}

// OnAskTimeout implements extension.OnAskTimeout.
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

// silence returns the reason why c does not reply, or nil if no extension knows one.
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

// failedAt ends the ask of the request msg, whose handler has failed. If that panics, the turn ends
// it, once the actor has dealt with the failure.
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

// refuseFailed ends the asks that wait for a reply to msg by the failure of its handler. Without
// that, those of singletons and entities would wait for their deadlines: they watch the router. An
// actor that supervision lets go on has kept what it knew, and may still reply.
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
