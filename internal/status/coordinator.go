package status

import (
	"context"
	"time"

	"github.com/understudy-go/understudy/internal/guard"
)

// Rest is how long after a failure a coordinator is not asked again: each vain request becomes a
// dead letter.
const Rest = 5 * time.Second

// A Coordinator asks a coordinator, wherever it runs, for what the page shows. Set Ask before
// anything else.
type Coordinator[T any] struct {
	Ask  func(ctx context.Context) (T, error)
	seen OnDemand[coordinatorSeen[T]]
}

type coordinatorSeen[T any] struct {
	answer  *T
	failure string
	failed  time.Time
}

// Refresh asks the coordinator, and waits up to [Patience] for the answer. If the last answer is
// new enough, it returns at once.
func (c *Coordinator[T]) Refresh(ctx context.Context) {
	if time.Since(c.seen.Read().failed) < Rest {
		return
	}
	c.seen.Refresh(ctx, func() func(coordinatorSeen[T]) coordinatorSeen[T] {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), Patience) // others wait
		defer cancel()
		now := coordinatorSeen[T]{}
		if answer, err := c.Ask(ctx); err != nil {
			now.failure, now.failed = Text(guard.Text(err)), time.Now()
		} else {
			now.answer = &answer
		}
		return func(coordinatorSeen[T]) coordinatorSeen[T] { return now }
	})
}

// Read returns the last answer, or nil and why the coordinator has not answered. Both are zero if
// it was not asked yet.
func (c *Coordinator[T]) Read() (answer *T, failure string) {
	seen := c.seen.Read()
	return seen.answer, seen.failure
}
