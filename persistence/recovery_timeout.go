package persistence

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"
)

var errNoProgress = errors.New("persistence: no progress")

// eventTime is what each replayed event adds to the time that a recovery has left.
const eventTime = time.Second

// A recoveryTimeout ends the context of a recovery that does not get on. A step, such as the claim,
// gives the recovery the whole limit again, and an event at most one second. A store that answers
// with an event now and then can therefore not keep a recovery alive.
//
// Reporting progress is cheap: the timer checks for it only when it fires.
type recoveryTimeout struct {
	ctx    context.Context // the context that it ends
	cancel context.CancelCauseFunc
	limit  time.Duration
	begun  time.Time
	until  atomic.Int64 // when the context ends: nanoseconds after begun
	timer  *time.Timer

	late   func(left time.Duration) // is called once a third of the limit is used up
	warned bool                     // late was called; belongs to the timer
}

func withRecoveryTimeout(parent context.Context, limit time.Duration, late func(left time.Duration)) (context.Context, *recoveryTimeout) {
	t := &recoveryTimeout{limit: limit, begun: time.Now(), late: late}
	t.ctx, t.cancel = context.WithCancelCause(parent)
	t.step()
	t.timer = time.AfterFunc(math.MaxInt64, t.fired) // set in the next line, because fired needs timer
	t.timer.Reset(limit / 3)
	return t.ctx, t
}

// step reports the end of a step: the next one has the whole limit.
func (t *recoveryTimeout) step() { t.until.Store(int64(time.Since(t.begun) + t.limit)) }

func (t *recoveryTimeout) event() {
	t.until.Store(min(int64(time.Since(t.begun)+t.limit), t.until.Load()+int64(eventTime)))
}

func (t *recoveryTimeout) fired() {
	left := time.Duration(t.until.Load()) - time.Since(t.begun)
	late := t.limit - t.limit/3
	switch {
	case left <= 0:
		t.cancel(errNoProgress)
	case t.ctx.Err() != nil:
	case left > late:
		t.warned = false
		t.timer.Reset(left - late)
	default:
		if !t.warned {
			t.warned = true
			t.late(left)
		}
		t.timer.Reset(left)
	}
}

func (t *recoveryTimeout) stop() {
	t.cancel(nil)
	t.timer.Stop()
}

// explain returns err, or an error about the timeout if the timeout has caused err.
func (t *recoveryTimeout) explain(err error) error {
	if err == nil || !errors.Is(context.Cause(t.ctx), errNoProgress) {
		return err
	}
	return &finalError{fmt.Errorf("too little progress within %v: %w: %w (%v)", t.limit, ErrUnavailable, context.DeadlineExceeded, err)} //nolint:errorlint // what err wraps may be something else
}
