package understudytest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cmd/understudy/internal/cli"
	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
	"github.com/understudy-go/understudy/persistence/workflow"
)

func TestRunsOfWorkflowsAreListedAndSteered(t *testing.T) {
	nodes := start(t, []string{"anna", "bert"}, cluster.AllowActions(allow))
	anna := nodes[0]
	require.Contains(t, anna.run(t, "runs", "order").errors, "this node has started no workflow")
	var orders *workflow.Type[int, string]
	for _, n := range nodes {
		var err error
		orders, err = workflow.Start(n.Node, "order", func(w *workflow.Run, _ int) (string, error) {
			return "", workflow.Do(w, "charge", func(context.Context) error { return errors.New("the bank is closed") },
				workflow.Retry(0, actor.Backoff{Min: time.Hour}))
		})
		require.NoError(t, err)
	}
	for _, id := range []string{"1", "2"} {
		_, err := orders.Run(t.Context(), id, 0, workflow.Tag("eu"))
		require.NoError(t, err)
	}
	r := anna.eventually(t, "retrying", "runs", "order/1")
	require.Regexp(t, `^1 is waiting since .*, with 0 outcomes\nSTEP .*\ncharge +retrying +2 +.* the bank is closed\n$`, r.out)
	require.Regexp(t, `^order: 2 running\nRUN .*\n2 +running +eu `, anna.run(t, "runs", "order").out)

	require.Regexp(t, "^cancel of order/1 is stored", anna.run(t, "steer", "order/1", "-do", "cancel", "-why", "a test").out)
	_, err := orders.Handle("1").Result(t.Context())
	require.ErrorContains(t, err, "a test")
	all := asJSON[status.Runs](t, anna.run(t, "runs", "order", "-json", "-state", "cancelled"))
	require.Equal(t, map[string]int{"running": 1, "cancelled": 1}, all.Counts)
	require.Equal(t, "1", all.Runs[0].ID)

	require.Contains(t, anna.run(t, "steer", "order/1", "-do", "cancel").errors, "the run has ended")
	require.Equal(t, 1, anna.run(t, "runs", "order/3").code)
	require.Equal(t, 2, runWith(t, cli.Env{}, "steer", "order").code)
	require.Equal(t, 2, runWith(t, cli.Env{}, "runs").code)
}
