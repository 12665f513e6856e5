package workflow_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/workflow"
)

// Runs of a program of one process are shut down at every moment of their steps, sleeps and
// awaits, while runs begin and signals come. No step is repeated, and each run comes to its end.
func TestAShutdownWaitsForTheOutcomesOfSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, calls := journal.NewMemory(), map[string]int{}
		count := make(chan struct{}, 1)
		begin := func() (*actor.System, *workflow.Type[time.Duration, string]) {
			s := actor.NewSystem("test", persistence.WithJournal(j))
			jobs, err := workflow.Start(s, "job", func(w *workflow.Run, each time.Duration) (string, error) {
				for pass := range 10 {
					err := workflow.Do(w, fmt.Sprint("step ", pass), func(ctx context.Context) error {
						count <- struct{}{}
						calls[workflow.Key(ctx)]++
						<-count
						time.Sleep(each)
						return ctx.Err()
					})
					if err == nil {
						err = workflow.Sleep(w, each)
					}
					if err != nil {
						return "", err
					}
				}
				return workflow.Await[string](w, "end", 0)
			})
			require.NoError(t, err)
			return s, jobs
		}
		s, jobs := begin()
		const runs = 100
		id := func(i int) string { return fmt.Sprint("run ", i) }
		for i := range runs {
			_, err := jobs.Run(t.Context(), id(i), time.Duration(i*70)*time.Millisecond)
			require.NoError(t, err)
		}
		for round := range 20 {
			pass(3100 * time.Millisecond)
			ended := make(chan error)
			go func() { ended <- s.Shutdown(t.Context()) }()
			for i := round; i < runs; i += 20 { // while it ends
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				_ = workflow.Signal(ctx, jobs, id(i), "end", "as it was asked to")
				cancel()
			}
			require.NoError(t, <-ended)
			s, jobs = begin()
		}
		for i := range runs {
			if err := workflow.Signal(t.Context(), jobs, id(i), "end", "as it was asked to"); !errors.Is(err, workflow.ErrEnded) {
				require.NoError(t, err)
			}
			got, err := jobs.Handle(id(i)).Result(t.Context())
			require.NoError(t, err, id(i))
			require.Equal(t, "as it was asked to", got)
		}
		require.Len(t, calls, 10*runs)
		for key, n := range calls {
			require.Equal(t, 1, n, key)
		}
		require.NoError(t, s.Shutdown(t.Context()))
	})
}
