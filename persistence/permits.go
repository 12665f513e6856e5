package persistence

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
)

// defaultRecoveries is how many actors of a system may recover at the same time.
const defaultRecoveries = 50

// LimitRecoveries lets at most n actors of s read from their journals at the same time in
// order to recover, so that many that start at once do not drown the store; the others
// wait for their turn, in order. Without it, n is 50. It counts for actors that begin to
// recover afterwards, so call it first. It panics unless n is positive.
//
// What an actor does in answer to [RecoveryCompleted] is no longer part of it.
func LimitRecoveries(s *actor.System, n int) {
	if n <= 0 {
		panic(fmt.Sprintf("persistence: limit of %d recoveries is not positive", n))
	}
	extension.Set(s, make(permits, n))
}

// permits are to be had by sending, and given back by receiving: whoever waits is served
// in order.
type permits chan struct{}

// acquire waits for a permit of s. It is given back by the function that it returns.
func acquire(ctx context.Context, s *actor.System) (release func(), err error) {
	p := extension.Ensure(s, func() permits { return make(permits, defaultRecoveries) })
	select {
	case p <- struct{}{}:
		return func() { <-p }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for other recoveries: %w", ctx.Err())
	}
}
