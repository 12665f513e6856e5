package workflow_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/workflow"
)

func TestOldRunsAreFoundAndErased(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System, j *journal.Memory) {
		jobs, err := workflow.Start(s, "job", func(w *workflow.Run, d time.Duration) (string, error) { return "", workflow.Sleep(w, d) })
		require.NoError(t, err)
		for id, d := range map[string]time.Duration{"old": 0, "new": 40 * 24 * time.Hour, "asleep": 1000 * time.Hour} {
			_, err := jobs.Run(t.Context(), id, d, workflow.Tag("of "+id))
			require.NoError(t, err)
			pass(time.Second)
		}
		pass(45 * 24 * time.Hour)
		all, err := jobs.All(t.Context())
		require.NoError(t, err)
		var erased []string
		for _, run := range all {
			require.Equal(t, "of "+run.ID, run.Tag)
			if run.Ended.IsZero() || time.Since(run.Ended) < 30*24*time.Hour {
				continue
			}
			erased = append(erased, run.ID)
			require.NoError(t, persistence.Forget(t.Context(), j, sharding.Entity{Type: "job", ID: run.ID}.PersistenceID()))
		}
		require.Equal(t, []string{"old"}, erased)
		all, err = jobs.All(t.Context())
		require.NoError(t, err)
		require.Len(t, all, 2)
		_, err = jobs.Run(t.Context(), "old", 0) // at once, although the context never ends
		require.ErrorIs(t, err, persistence.ErrForgotten)
		_, err = workflow.Of[time.Duration, string](s, "job").Handle("old").Result(context.Background())
		require.ErrorIs(t, err, persistence.ErrForgotten)
	})
}
