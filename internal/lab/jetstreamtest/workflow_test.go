package jetstreamtest

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/workflow"
	"github.com/understudy-go/understudy/testkit"
)

// A journal of JetStream keeps no timers. A run sleeps in memory, and goes on after its system has
// ended.
func TestARunOfAWorkflowSleepsAndGoesOnInAnotherSystem(t *testing.T) {
	r := &rig{cluster: start(t, 1)}
	stream := r.name()
	var calls atomic.Int64
	begin := func() (*actor.System, *workflow.Type[int, string]) {
		s := testkit.NewSystem(t, persistence.WithJournal(r.open(t, stream)))
		jobs, err := workflow.Start(s, "job", func(w *workflow.Run, _ int) (string, error) {
			if err := workflow.Do(w, "call", func(context.Context) error { calls.Add(1); return nil }); err != nil {
				return "", err
			}
			if err := workflow.Sleep(w, time.Second); err != nil {
				return "", err
			}
			return workflow.Await[string](w, "approval", time.Minute)
		})
		require.NoError(t, err)
		return s, jobs
	}
	first, jobs := begin()
	_, err := jobs.Run(t.Context(), "1", 0)
	require.NoError(t, err)
	require.NoError(t, first.Shutdown(t.Context()))

	_, jobs = begin()
	require.NoError(t, workflow.Signal(t.Context(), jobs, "1", "approval", "ann"))
	got, err := jobs.Handle("1").Result(t.Context())
	require.NoError(t, err)
	require.Equal(t, "ann", got)
	require.LessOrEqual(t, calls.Load(), int64(2), "the first system may have ended before the outcome was stored")
}
