package persistence

import (
	"context"
	"fmt"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/permits"
)

const defaultRecoveries = 50

// LimitRecoveries lets at most n actors of s recover at the same time, so that many actors that
// start at once do not overload the store. The others wait. The types of entities of package
// sharding are served in turn, so none waits for all of another. Without this call, n is 50. It
// affects recoveries that start afterwards, so call it first. It panics unless n is positive.
//
// The reaction of an actor to [RecoveryCompleted] does not count as recovery.
func LimitRecoveries(s *actor.System, n int) {
	if n <= 0 {
		panic(fmt.Sprintf("persistence: limit of %d recoveries is not positive", n))
	}
	extension.Set(s, permits.New(n))
}

func acquire(ctx context.Context, s *actor.System) (release func(), err error) {
	p := extension.Ensure(s, func() *permits.Permits { return permits.New(defaultRecoveries) })
	if err := metricsOf(s).wait(ctx, p); err != nil {
		return nil, fmt.Errorf("wait for other recoveries: %w", err)
	}
	return p.Release, nil
}
