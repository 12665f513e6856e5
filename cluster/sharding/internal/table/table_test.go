package table_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/sharding/internal/table"
	"github.com/understudy-go/understudy/remote"
)

func id(n int) remote.NodeID {
	return remote.NodeID{Address: fmt.Sprint("node-", n), Incarnation: uint64(n)}
}

var carts = table.Type{Name: "cart", Shards: 8, Message: "shop.cart"}

func TestANodeThatKnowsNothingGetsTheWholeTable(t *testing.T) {
	b := table.NewBook(3)
	b.Declare(carts)
	b.Set("cart", 2, table.Home{Node: id(1), Generation: 5})
	u, news := b.Since(table.Version{})
	require.True(t, news)
	var at table.Table
	require.Equal(t, []string{"cart"}, at.Apply(u))
	e, ok := at.Of("cart")
	require.True(t, ok)
	require.Equal(t, carts, e.Type)
	require.Len(t, e.Homes, 8)
	require.Equal(t, table.Home{Node: id(1), Generation: 5}, e.Homes[2])
	require.Zero(t, e.Homes[3])
	_, news = b.Since(at.Version())
	require.False(t, news)
}

func TestAnUpdateHasOnlyWhatHasChangedSinceTheAcknowledgedOne(t *testing.T) {
	b := table.NewBook(1)
	b.Declare(carts)
	b.Set("cart", 0, table.Home{Node: id(1), Generation: 1})
	seen := b.Version()
	b.Set("cart", 1, table.Home{Node: id(2), Generation: 1})
	b.Set("cart", 1, table.Home{Node: id(3), Generation: 2})
	b.Set("cart", 0, table.Home{Node: id(1), Generation: 1}) // no change
	u, _ := b.Since(seen)
	require.Equal(t, []remote.NodeID{id(3)}, u.Nodes)
	require.Equal(t, []table.Change{{Shard: 1, Node: 1, Generation: 2}}, u.Types[0].Homes)
}

func TestATableIgnoresWhatIsOldOrLeavesOutChanges(t *testing.T) {
	b := table.NewBook(2)
	b.Declare(carts)
	first, _ := b.Since(table.Version{})
	b.Set("cart", 0, table.Home{Node: id(1), Generation: 1})
	second, _ := b.Since(first.To)
	b.Set("cart", 0, table.Home{Node: id(2), Generation: 2})
	third, _ := b.Since(second.To)

	var at table.Table
	require.Empty(t, at.Apply(second), "the first is missing")
	at.Apply(first)
	require.Empty(t, at.Apply(third), "the second is missing")
	at.Apply(second)
	at.Apply(third)
	require.Empty(t, at.Apply(second))
	e, _ := at.Of("cart")
	require.Equal(t, id(2), e.Homes[0].Node)

	before := table.NewBook(1)
	before.Declare(carts)
	for n := range 8 {
		before.Set("cart", n, table.Home{Node: id(9), Generation: 9})
	}
	old, _ := before.Since(table.Version{})
	require.Empty(t, at.Apply(old), "of a coordinator that was replaced")
}

func TestTheTableOfTheNextCoordinatorReplacesTheOneBefore(t *testing.T) {
	b := table.NewBook(1)
	b.Declare(carts)
	b.Set("cart", 0, table.Home{Node: id(1), Generation: 1})
	b.Set("cart", 1, table.Home{Node: id(1), Generation: 1})
	var at table.Table
	u, _ := b.Since(at.Version())
	at.Apply(u)

	next := table.NewBook(2)
	next.Declare(carts)
	next.Set("cart", 1, table.Home{Node: id(1), Generation: 1})
	u, _ = next.Since(at.Version())
	at.Apply(u)
	e, _ := at.Of("cart")
	require.Zero(t, e.Homes[0], "its home is not known to the next coordinator")
	require.Equal(t, id(1), e.Homes[1].Node)
}

func TestAnUpdateThatMakesNoSenseChangesNothing(t *testing.T) {
	for name, c := range map[string]table.Changes{
		"too many shards": {Type: table.Type{Name: "cart", Shards: 1 << 30}},
		"no shards":       {Type: table.Type{Name: "cart"}},
		"a shard beyond":  {Type: carts, Homes: []table.Change{{Shard: 8}}},
		"a node beyond":   {Type: carts, Homes: []table.Change{{Shard: 1, Node: 1}}},
		"below zero":      {Type: carts, Homes: []table.Change{{Shard: -1}}},
	} {
		t.Run(name, func(t *testing.T) {
			var at table.Table
			require.Empty(t, at.Apply(table.Update{From: table.Version{Epoch: 1}, To: table.Version{Epoch: 1, N: 1}, Types: []table.Changes{c}}))
			require.Zero(t, at.Version())
		})
	}
}

// Whatever updates are lost, doubled or late, a table that has the version of the book is equal to
// it.
func TestTablesAgreeWithTheBook(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var at table.Table
		acknowledged := table.Version{}
		var underWay []table.Update
		for epoch := range uint64(3) {
			b := table.NewBook(epoch + 1)
			b.Declare(carts)
			var homes [8]table.Home
			for range 40 {
				switch rng.IntN(4) {
				case 0, 1:
					shard := rng.IntN(8)
					homes[shard] = table.Home{Node: id(rng.IntN(3)), Generation: homes[shard].Generation + 1}
					b.Set("cart", shard, homes[shard])
				case 2:
					if u, news := b.Since(acknowledged); news {
						underWay = append(underWay, u)
					}
				case 3:
					for range min(2, len(underWay)) {
						at.Apply(underWay[rng.IntN(len(underWay))])
					}
					acknowledged = at.Version()
				}
				if at.Version() == b.Version() {
					e, _ := at.Of("cart")
					require.Equal(t, homes[:], e.Homes, "seed %d", seed)
				}
			}
		}
	}
}
