package cluster

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/internal/membership"
	"github.com/understudy-go/understudy/internal/volatile"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

func TestAJournalInMemoryIsReportedOnceTheClusterHasAnotherProcess(t *testing.T) {
	core, logs := observer.New(zap.WarnLevel)
	n := &Node{System: actor.NewSystem("processes", actor.WithLogger(zap.New(core)))}
	inThisProcess.Store("here:1", nil)
	here, there := membership.Member{Name: "anna", Address: "here:1"}, membership.Member{Name: "bert", Address: "there:1"}
	volatile.Of(n.System).Used("counter-1")
	noteProcesses(n, membership.View{Members: []membership.Member{here}})
	require.Zero(t, logs.Len(), "nodes of a test may share a journal in memory")
	for range 2 {
		noteProcesses(n, membership.View{Members: []membership.Member{here, there}})
		require.Equal(t, 1, logs.Len())
	}
	require.Equal(t, map[string]any{"id": "counter-1", "member": "bert"}, logs.All()[0].ContextMap())
	require.NoError(t, n.System.Shutdown(t.Context()))
}

// The first node cannot know that others will come. What runs there is refused with its next
// command, and what starts later at once.
func TestAStrictNodeRefusesAJournalInMemoryOnceTheClusterHasAnotherProcess(t *testing.T) {
	inBubble(t, func(t *testing.T, f *testCluster) {
		f.tune = func(cfg *Config) { cfg.Strict = true }
		f.start("n1")
		f.await(5*time.Second, "n1")
		n := f.nodes["n1"]
		diary := func(id string) actor.Behavior[int] {
			return behaviors.EventSourced(id, journal.NewMemory(), 0, func(sum, i int) int { return sum + i },
				func(_ *actor.Context[int], _, i int) persistence.Effect[int] { return persistence.Persist(i) })
		}
		failures := make(chan error, 1)
		spawn := func(id string) actor.ActorRef[int] {
			return actor.Spawn(n, behaviors.Supervise(diary(id), actor.Strategy{Decide: func(err error) actor.Directive {
				failures <- err
				return actor.Stop
			}}), id)
		}
		ref := spawn("early")
		ref.Tell(1)
		synctest.Wait()
		require.Empty(t, failures)

		volatile.Of(n.System).Spread("bert")
		ref.Tell(2)
		err := <-failures
		require.ErrorIs(t, err, persistence.ErrInMemory)
		require.ErrorContains(t, err, "such as the process of bert")
		spawn("late")
		require.ErrorIs(t, <-failures, persistence.ErrInMemory)
	})
}
