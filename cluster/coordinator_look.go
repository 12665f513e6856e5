package cluster

import (
	"context"
	"time"

	"github.com/understudy-go/understudy/internal/guard"
)

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
