package workflow_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/workflow"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// A client sends what it asks for to a member that has started the type. The next process at the
// same address may get it, before it has started the type.
func TestAClientAsksAgainUntilANodeThatWasRestartedHasStartedTheType(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 1, clustertest.WithJournal(journal.NewMemory()))
		start := func(n *cluster.Node) {
			_, err := workflow.Start(n, "job", func(_ *workflow.Run, in string) (string, error) { return in, nil })
			require.NoError(t, err)
		}
		start(c.Node("n1"))
		jobs := workflow.Of[string, string](c.Dial("client"), "job")
		for _, id := range []string{"1", "2"} {
			run, err := jobs.Run(t.Context(), id, "in")
			require.NoError(t, err)
			got, err := run.Result(t.Context())
			require.NoError(t, err)
			require.Equal(t, "in", got)
			if id == "1" {
				n := c.Restart("n1")
				time.AfterFunc(5*time.Second, func() { start(n) })
			}
		}
	})
}
