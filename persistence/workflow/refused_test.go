package workflow_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/workflow"
	"github.com/understudy-go/understudy/testkit"
)

// A process that is replaced in the middle of a step is refused by the receiver. The run comes back
// to it before the other process has an outcome. The refusal must not become one.
func TestARefusalOfAReplacedProcessIsNoOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := journal.NewMemory()
		var highest atomic.Uint64 // token
		start := func(takes time.Duration) *workflow.Type[string, string] {
			typ, err := workflow.Start(testkit.NewSystem(t, persistence.WithJournal(j)), "job", func(w *workflow.Run, _ string) (string, error) {
				return workflow.Step(w, "charge", func(ctx context.Context) (string, error) {
					token := workflow.Token(ctx)
					highest.Store(max(token, highest.Load()))
					time.Sleep(takes)
					if token < highest.Load() {
						return "", errDeclined
					}
					return "charged", nil
				})
			})
			require.NoError(t, err)
			return typ
		}
		first := start(1900 * time.Millisecond)
		_, err := first.Run(t.Context(), "1", "")
		require.NoError(t, err)
		time.Sleep(time.Second)
		second := start(time.Hour)
		_, err = second.Look(t.Context(), "1")
		require.NoError(t, err)
		time.Sleep(20 * time.Second) // the first one is refused
		got, err := first.Handle("1").Result(t.Context())
		require.NoError(t, err)
		require.Equal(t, "charged", got)
		time.Sleep(2 * time.Hour) // the second one returns
	})
}

func TestAFailureWaitsForTheJournalAsAResultDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, why := &down{Journal: journal.NewMemory()}, journal.ErrUnavailable
		calls := 0
		jobs, err := workflow.Start(testkit.NewSystem(t, persistence.WithJournal(j)), "job", func(w *workflow.Run, _ string) (string, error) {
			return workflow.Step(w, "charge", func(context.Context) (string, error) {
				calls++
				time.Sleep(time.Minute)
				return "", errDeclined
			})
		})
		require.NoError(t, err)
		job, err := jobs.Run(t.Context(), "1", "")
		require.NoError(t, err)
		pass(time.Second)
		j.why.Store(&why)
		pass(5 * time.Hour)
		j.why.Store(nil)
		_, err = job.Result(t.Context())
		require.ErrorIs(t, err, errDeclined)
		require.Equal(t, 1, calls)
	})
}
