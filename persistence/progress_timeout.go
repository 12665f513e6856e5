package persistence

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"
)

// errIdle is the cause of a context that an idleTimeout has ended.
var errIdle = errors.New("persistence: no progress")

// An idleTimeout ends a context when there has been no progress for some time. Reporting progress
// is cheap: the timer checks for progress only when it fires, and is then reset.
type idleTimeout struct {
	ctx    context.Context // the context that it ends
	cancel context.CancelCauseFunc
	after  time.Duration
	begun  time.Time
	last   atomic.Int64 // progress: nanoseconds after begun
	timer  *time.Timer
}

func withIdleTimeout(parent context.Context, after time.Duration) (context.Context, *idleTimeout) {
	t := &idleTimeout{after: after, begun: time.Now()}
	t.ctx, t.cancel = context.WithCancelCause(parent)
	t.timer = time.AfterFunc(math.MaxInt64, t.fired) // set in the next line, because fired needs timer
	t.timer.Reset(after)
	return t.ctx, t
}

// progress restarts the timeout.
func (t *idleTimeout) progress() { t.last.Store(int64(time.Since(t.begun))) }

func (t *idleTimeout) fired() {
	left := t.after - time.Since(t.begun) + time.Duration(t.last.Load())
	switch {
	case left <= 0:
		t.cancel(errIdle)
	case t.ctx.Err() == nil:
		t.timer.Reset(left)
	}
}

func (t *idleTimeout) stop() {
	t.cancel(nil)
	t.timer.Stop()
}

// explain returns err, or an error about the timeout if the timeout has caused err.
func (t *idleTimeout) explain(err error) error {
	if err == nil || !errors.Is(context.Cause(t.ctx), errIdle) {
		return err
	}
	return fmt.Errorf("no progress for %v: %w (%v)", t.after, context.DeadlineExceeded, err) //nolint:errorlint // err is not wrapped, so that it is not retried
}
