package cluster

import (
	"context"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/placementstatus"
	"github.com/understudy-go/understudy/internal/shardstatus"
)

type coordinatorLooks struct {
	placement coordinatorLook[placementstatus.Overview]
	homeless  coordinatorLook[[]shardstatus.Homeless]
}

func newCoordinatorLooks(s *actor.System) *coordinatorLooks {
	l := new(coordinatorLooks)
	l.placement.ask = func() func(context.Context) (placementstatus.Overview, error) {
		ask, _ := extension.Get[placementstatus.Source](s)
		return ask
	}
	l.homeless.ask = func() func(context.Context) ([]shardstatus.Homeless, error) {
		ask, sharded := extension.Get[shardstatus.Asker](s)
		if !sharded || !hasHomeless(shardTypes(s)) {
			return nil
		}
		return ask
	}
	return l
}

func shardTypes(s *actor.System) []shardstatus.Type {
	types, sharded := extension.Get[shardstatus.Source](s)
	if !sharded {
		return []shardstatus.Type{}
	}
	return types()
}

func hasHomeless(types []shardstatus.Type) bool {
	for _, t := range types {
		if t.Homeless > 0 && t.Refused == "" {
			return true
		}
	}
	return false
}

// A coordinatorLook asks a coordinator, of placement or of shards, for what status pages show of
// it.
type coordinatorLook[T any] struct {
	// ask returns the function that asks. There is nothing to ask if it returns nil.
	ask  func() func(ctx context.Context) (T, error)
	seen onDemand[coordinatorSeen[T]]
}

type coordinatorSeen[T any] struct {
	answer  *T     // nil: there is no coordinator, or it has not answered
	failure string // why it has not answered, or ""
	failed  time.Time
}

// coordinatorRest is how long after a failure a coordinator is not asked again: each vain request
// becomes a dead letter.
const coordinatorRest = 5 * time.Second

// refresh asks the coordinator, and waits up to exchangePatience for the answer. If the last answer
// is new enough, or there is nothing to ask, it returns at once.
func (l *coordinatorLook[T]) refresh(ctx context.Context) {
	ask := l.ask()
	if ask == nil || time.Since(l.seen.read().failed) < coordinatorRest {
		return
	}
	l.seen.refresh(ctx, func() func(coordinatorSeen[T]) coordinatorSeen[T] {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), exchangePatience) // others wait
		defer cancel()
		now := coordinatorSeen[T]{}
		if answer, err := ask(ctx); err != nil {
			now.failure, now.failed = figureText(guard.Text(err)), time.Now()
		} else {
			now.answer = &answer
		}
		return func(coordinatorSeen[T]) coordinatorSeen[T] { return now }
	})
}
