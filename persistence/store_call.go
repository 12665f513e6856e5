package persistence

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/pause"
)

// patience is how long a store may take to answer after the context of a call is done. A store that
// respects its contexts answers much sooner.
const patience = time.Second

// maxAbandoned bounds the abandoned calls of one persistence id. Recovery fails while that many
// run, so that restarts do not add goroutines without limit.
const maxAbandoned = 4

var errAbandoned = fmt.Errorf("%w: the store did not answer within %v after the context of the call was done, and the call was abandoned", ErrUnknown, patience)

// errGoexit is the error of a call whose goroutine has called runtime.Goexit.
var errGoexit = errors.New("persistence: the goroutine of the call has ended without a result")

// A storeCaller calls a store on behalf of one actor. It abandons calls that continue after their
// context is done, so that no store can block an actor forever.
type storeCaller struct {
	system *actor.System
	id     string      // the persistence id
	log    *zap.Logger // with the path of the actor and the id
	late   *obstacle   // of an append that takes long; nil if that does not matter
}

// call runs work in a separate goroutine and waits for it. It returns a panic in work as an error.
// If work does not return within patience after ctx is done, call returns errAbandoned; variables
// that work writes then belong to its goroutine.
func (c storeCaller) call(ctx context.Context, op string, work func() error) error {
	begun := time.Now()
	done := make(chan error, 1)
	go func() {
		err := errGoexit
		defer func() { done <- err }()
		err = guard.Run(work)
	}()
	var late <-chan time.Time
	if c.late != nil {
		late = c.late.timer.C
	}
	for waits := true; waits; {
		select {
		case err := <-done:
			return err
		case <-late:
			c.late.hangs(begun) //nolint:contextcheck // it takes the actor's context, not a context.Context
		case <-ctx.Done():
			waits = false
		}
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		c.abandon(op, begun, done)
		return fmt.Errorf("%s: %w (%w)", op, errAbandoned, context.Cause(ctx))
	}
}

func (c storeCaller) abandon(op string, begun time.Time, done <-chan error) {
	calls := abandonedOf(c.system)
	n := calls.add(c.id, 1)
	log := c.log.With(zap.String("call", op))
	log.Error("call to the store abandoned: it continues after its context is done",
		zap.Duration("runningFor", time.Since(begun)), zap.Int("abandonedCalls", n))
	go func() {
		err := <-done
		n := calls.add(c.id, -1)
		log.Warn("abandoned call to the store has ended",
			zap.Duration("ranFor", time.Since(begun)), zap.Int("abandonedCalls", n), zap.Error(err))
	}()
}

func (c storeCaller) admit() error {
	if n := abandonedOf(c.system).add(c.id, 0); n >= maxAbandoned {
		return fmt.Errorf("%w: %d abandoned calls for this id have not ended yet; see the log for them", ErrUnavailable, n)
	}
	return nil
}

type abandonedCalls struct {
	mu   sync.Mutex // guards byID
	byID map[string]int
}

func abandonedOf(s *actor.System) *abandonedCalls {
	return extension.Ensure(s, func() *abandonedCalls { return &abandonedCalls{byID: map[string]int{}} })
}

func (a *abandonedCalls) add(id string, n int) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	sum := a.byID[id] + n
	if a.byID[id] = sum; sum == 0 {
		delete(a.byID, id)
	}
	return sum
}

type retrier struct {
	backoff actor.Backoff
	limit   time.Duration // from the first failure on
	log     *zap.Logger
	repeats func(error) // is called before f is called again
}

func (r retrier) do(ctx context.Context, f func() error) error {
	var since time.Time
	for n := 0; ; n++ {
		err := f()
		if !isTransient(err) {
			return err
		}
		if n == 0 {
			since = time.Now()
		}
		delay := r.backoff.Delay(n)
		if delay == 0 || time.Since(since)+delay > r.limit || ctx.Err() != nil {
			return err
		}
		r.repeats(err)
		if pause.For(ctx, delay) != nil {
			return err
		}
		r.log.Warn("journal failed; trying again", zap.Error(err), zap.Int("failures", n+1))
	}
}
