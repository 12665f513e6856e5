package persistence

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/extension"
)

// defaultRecoveries is how many actors of a system may recover at the same time.
const defaultRecoveries = 50

// LimitRecoveries lets at most n actors of s recover at the same time, so that many actors that
// start at once do not overload the store; the others wait in order. Without this call, n is 50.
// It affects recoveries that start afterwards, so call it first. It panics unless n is positive.
//
// The reaction of an actor to [RecoveryCompleted] does not count as recovery.
func LimitRecoveries(s *actor.System, n int) {
	if n <= 0 {
		panic(fmt.Sprintf("persistence: limit of %d recoveries is not positive", n))
	}
	extension.Set(s, make(permits, n))
}

// permits is a semaphore: sending takes a permit, receiving releases it. Waiters are served in
// order.
type permits chan struct{}

// acquire waits for a permit of s. The function that it returns releases the permit.
func acquire(ctx context.Context, s *actor.System) (release func(), err error) {
	p := extension.Ensure(s, func() permits { return make(permits, defaultRecoveries) })
	if err := metricsOf(s).wait(ctx, p); err != nil {
		return nil, fmt.Errorf("wait for other recoveries: %w", err)
	}
	return func() { <-p }, nil
}
