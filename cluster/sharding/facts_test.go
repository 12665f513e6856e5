package sharding_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/singleton"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// writeFact stores a fact under the id of the coordinator.
func writeFact(t *testing.T, store journal.Journal, f home.Fact) {
	t.Helper()
	s := testkit.NewSystem(t, testkit.WithoutEncoding())
	ref := actor.Spawn(s, behaviors.EventSourced("sharding/coordinator", store, 0,
		func(n int, _ home.Fact) int { return n + 1 },
		func(_ *actor.Context[actor.ActorRef[int]], n int, replyTo actor.ActorRef[int]) persistence.Effect[home.Fact] {
			return persistence.Persist(f).Then(func() { replyTo.Tell(n) })
		}), "forger")
	_, err := actor.Ask(t.Context(), ref, func(r actor.ActorRef[int]) actor.ActorRef[int] { return r })
	require.NoError(t, err)
	require.NoError(t, s.Shutdown(t.Context()))
}

func TestAFactThatDoesNotFitIsReportedAndEndsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := journal.NewMemory()
		writeFact(t, store, home.Fact{Key: "shard/notebook/3", Record: &home.Record{Node: "n9", Generation: singleton.Generation{Term: 7}}})
		logs, entries := observer.New(zap.ErrorLevel)
		c := clustertest.Start(t, 2, clustertest.WithJournal(store), func(_ string, cfg *cluster.Config) { cfg.Logger = zap.New(logs) })
		for _, n := range c.Nodes() {
			region, err := sharding.Start(n, "notebook", func(e sharding.Entity) actor.Behavior[note] { return notebook(e) },
				sharding.Shards(8))
			require.NoError(t, err)
			time.Sleep(10 * time.Second)
			for _, id := range []string{"a", "b", "c", "d", "e", "f"} {
				_, err := actor.AskTimeout(t.Context(), region.Ref(id), 5*time.Second, func(r actor.ActorRef[string]) note { return note{ReplyTo: r} })
				require.NoError(t, err)
			}
		}
		said := entries.FilterMessageSnippet("do not fit").All()
		require.Len(t, said, 1)
		require.Equal(t, []any{"shard/notebook/3"}, said[0].ContextMap()["keys"])
		require.Contains(t, said[0].ContextMap()["advice"], "restore it")
	})
}
