//go:build !quick

package clustertest_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// talker returns the factory of an event-sourced instance that keeps its logger from its start, and
// whose child logs as well.
func talker(j persistence.Journal) func() actor.Behavior[Entry] {
	return func() actor.Behavior[Entry] {
		return behaviors.Setup(func(ctx *actor.Context[Entry]) actor.Behavior[Entry] {
			log := ctx.Log()
			log.Info("starts")
			return behaviors.EventSourced("talker", j, 0, func(n int, _ Kept) int { return n + 1 },
				func(ctx *actor.Context[Entry], _ int, msg Entry) persistence.Effect[Kept] {
					log.Info("handles", zap.Int("n", msg.N))
					actor.Spawn(ctx, behaviors.Setup(func(ctx *actor.Context[int]) actor.Behavior[int] {
						ctx.Log().Info("helps")
						return behaviors.Stopped
					}), "child")
					return persistence.None
				})
		})
	}
}

// The claim of its journal raises the generation of the first instance. The second one runs after a
// hand-over, on another node.
func TestALineOfASingletonTellsItsNodeAndItsGeneration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := journal.NewMemory()
		_, err := j.Claim(t.Context(), "talker", journal.WriterID{}, journal.Bounds{Least: 1<<32 | 5})
		require.NoError(t, err)
		core, logs := observer.New(zap.InfoLevel)
		c := clustertest.Start(t, 2, func(name string, cfg *cluster.Config) {
			cfg.Logger, cfg.NodeID = zap.New(core), "node-"+name
		})
		refs := map[string]actor.ActorRef[Entry]{}
		for _, n := range c.Nodes() {
			refs[n.View().Self.Name] = actor.Spawn(n, behaviors.Singleton(talker(j)), "talker")
		}
		c.AwaitQuiet()
		line := func(message string) map[string]any {
			found := logs.FilterMessage(message).TakeAll()
			require.Len(t, found, 1, message)
			fields := found[0].ContextMap()
			delete(fields, "n")
			return fields
		}
		require.Equal(t, fieldsOf("node-n1", "1.1"), line("starts"))
		refs["node-n2"].Tell(Entry{N: 1})
		c.AwaitQuiet()
		require.Equal(t, fieldsOf("node-n1", "1.6"), line("handles"))
		helps := line("helps")
		require.Equal(t, "1.6", helps["generation"])
		require.Equal(t, "node-n1", helps["node"])
		require.Equal(t, "int", helps["kind"])

		logs.TakeAll()
		c.Leave("n1")
		c.AwaitQuiet()
		require.Equal(t, fieldsOf("node-n2", "2.1"), line("starts"))
	})
}

func fieldsOf(node, generation string) map[string]any {
	return map[string]any{
		"actor": "/user/talker/instance", "kind": "clustertest_test.Entry", "node": node, "generation": generation,
	}
}
