package workflow_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/workflow"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// A node that leaves lets steps end that it executes, and stores their outcomes.
func TestARunMovesOnceItsStepHasEndedAndTheStepIsNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 2, clustertest.WithJournal(journal.NewMemory()))
		begun, calls := make(chan struct{}), 0
		start := func(n *cluster.Node) *workflow.Type[string, string] {
			typ, err := workflow.Start(n, "job", func(w *workflow.Run, _ string) (string, error) {
				return workflow.Step(w, "long", func(context.Context) (string, error) {
					if calls++; calls == 1 {
						close(begun)
					}
					time.Sleep(2 * time.Second)
					return "done", nil
				})
			})
			require.NoError(t, err)
			return typ
		}
		start(c.Node("n1"))
		time.Sleep(5 * time.Second) // all shards have their home on n1
		_, err := start(c.Node("n2")).Run(t.Context(), "1", "")
		require.NoError(t, err)
		<-begun
		at := time.Now()
		c.Leave("n1")
		require.Less(t, time.Since(at), 5*time.Second)
		got, err := workflow.Of[string, string](c.Node("n2"), "job").Handle("1").Result(t.Context())
		require.NoError(t, err)
		require.Equal(t, "done", got)
		require.Equal(t, 1, calls)
	})
}
