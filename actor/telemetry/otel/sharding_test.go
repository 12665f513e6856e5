package otel_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/sharding"
)

// A trace leads to an entity on another node, and each shard that moves is a trace of its own.
func TestATraceLeadsToAnEntityAndTheMoveOfItsShardIsATrace(t *testing.T) {
	tr := newTracing()
	synctest.Test(t, func(t *testing.T) {
		c := tracedCluster(t, 2, tr)
		var here *sharding.Region[word]
		for _, n := range c.Nodes() {
			r, err := sharding.Start(n, "clerk", func(sharding.Entity) actor.Behavior[word] { return clerk(answer) }, sharding.Shards(4))
			require.NoError(t, err)
			if n == c.Node("n1") {
				here = r
			}
		}
		time.Sleep(2 * time.Minute) // the shards are balanced
		tr.Reset()
		ctx, end := tr.provider.Tracer("test").Start(t.Context(), "request")
		for i := range 20 {
			_, err := actor.Ask(ctx, here.Ref(fmt.Sprint("clerk-", i)), func(r actor.ActorRef[string]) word { return word{ReplyTo: r} })
			require.NoError(t, err)
		}
		end.End()
		spans := tr.GetSpans()
		for _, s := range spans {
			require.Equal(t, end.SpanContext().TraceID(), s.SpanContext.TraceID(), s.Name)
		}
		require.NotEmpty(t, tr.spansOf("send"), "some entities are on the other node")
		require.Greater(t, len(spans), 2*20, tr.trees())

		tr.Reset()
		c.Leave("n2")
		time.Sleep(10 * time.Second)
		moves := tr.spansOf("shard.move")
		require.Len(t, moves, 2, tr.trees())
		details := detailsOf(moves[0])
		require.Equal(t, "drain", details["understudy.shard.cause"])
		require.Equal(t, "n2", details["understudy.shard.from"])
		require.Equal(t, "n1", details["understudy.shard.to"])
		require.Contains(t, details["understudy.shard.label"], "clerk/")
	})
}
