package understudytest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

type (
	put struct {
		Item    string
		ReplyTo actor.ActorRef[int]
	}
	added struct{ Item string }
)

func init() {
	actor.RegisterType[put]("understudytest.put")
	actor.RegisterType[added]("understudytest.added")
}

func TestAnEntityIsShownAsItIsAndAsItWas(t *testing.T) {
	n, store := start(t, []string{"anna"}, cluster.ShowStates(allow, nil))[0], journal.NewMemory()
	carts, err := sharding.Start(n.Node, "cart", func(e sharding.Entity) actor.Behavior[put] {
		return behaviors.EventSourced(e.PersistenceID(), store, []string(nil),
			func(items []string, a added) []string { return append(items[:len(items):len(items)], a.Item) },
			func(_ *actor.Context[put], items []string, p put) persistence.Effect[added] {
				return persistence.ThenReply(persistence.Persist(added{p.Item}), p.ReplyTo, len(items)+1)
			})
	}, sharding.Shards(4))
	require.NoError(t, err)
	for _, item := range []string{"tea", "cup"} {
		_, err := actor.Ask(t.Context(), carts.Ref("42"), func(r actor.ActorRef[int]) put { return put{item, r} })
		require.NoError(t, err)
	}
	r := n.run(t, "entity", "cart/42", "-events", "1", "-diff", "1")
	require.Zero(t, r.code, r)
	require.Contains(t, r.out, "persistence id  cart|42\nevent           2\n")
	require.Contains(t, r.out, "\n[\n  \"tea\",\n  \"cup\"\n]\n")
	require.Regexp(t, `FIELD +EVENT 1 +EVENT 2\n1 +null +"cup"\n`, r.out)
	require.Regexp(t, `2 +\S+ \S+ +understudytest.added +{"Item":"cup"}\n`, r.out)
	then := asJSON[status.Entity](t, n.run(t, "entity", "cart/42", "-at", "1", "-json"))
	require.Equal(t, []any{"tea"}, then.State)
	require.Equal(t, result{0, "Nothing is stored for cart|43.\n", ""}, n.run(t, "entity", "cart/43"))
	require.Equal(t, result{1, "", "understudy: the node refuses: no such type: this node hosts no entities of a type \"tub\", but of cart (404 Not Found)\n"}, n.run(t, "entity", "tub/1"))

	session := connect(t, n, false)
	defer func() { require.NoError(t, session.Close()) }()
	require.EqualValues(t, 2, must[status.Entity](t, session, "entity", map[string]any{"type": "cart", "id": "42"}).Seq)

	actor.Spawn(n.Node, behaviors.Singleton(func() actor.Behavior[put] {
		return behaviors.EventSourced("ledger", store, 0, func(n int, _ added) int { return n + 1 },
			func(_ *actor.Context[put], n int, p put) persistence.Effect[added] {
				return persistence.ThenReply(persistence.Persist(added{p.Item}), p.ReplyTo, n+1)
			})
	}), "ledger")
	require.Equal(t, result{0, "Nothing is stored for ledger.\n", ""}, n.run(t, "entity", "singleton/ledger"))
	require.Equal(t, result{1, "", "understudy: the node refuses: no such singleton: this node has spawned no singleton \"lodger\", but ledger, sharding-coordinator (404 Not Found)\n"}, n.run(t, "entity", "singleton/lodger"))

	closed := start(t, []string{"bert"})[0].run(t, "entity", "cart/42")
	require.Equal(t, 1, closed.code)
	require.Contains(t, closed.errors, "pass cluster.ShowStates to node.Handler")
}
