package allot

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/sharding/internal/table"
)

func forgetful(cfg *Config) { cfg.Forgetful = true }

// offers lets a node say that it has the type with a number of shards.
func (r *rig) offers(node, shards int, agreed bool) {
	t := table.Type{Name: "cart", Shards: shards, Message: "m"}
	r.do(Hello{Node: home.IDOf(r.nodes[node]), Offers: []Offer{{Type: t, Hosts: true, Agreed: agreed}}})
}

// among lets a coordinator with no memory take over among nodes that have said nothing to it.
func (r *rig) among(names ...string) {
	r.nodes = nil
	r.begin(2, forgetful)
	for _, name := range names {
		r.nodes = append(r.nodes, home.Node{Name: name, Address: name, Incarnation: r.next(), Up: true, Reachable: true})
	}
	r.do(home.ViewChanged{Nodes: r.nodes})
}

func (r *rig) wantRefused(node int) {
	r.t.Helper()
	id := home.IDOf(r.nodes[node])
	require.Len(r.t, r.m.shards.offers.mismatches(id, r.m.shards.kinds), 1)
}

func TestANewCoordinatorWithoutAJournalTakesTheNumberOfShardsWithWhichTheTypeRuns(t *testing.T) {
	r := newRig(t, forgetful)
	r.among("a", "b", "c")
	r.offers(0, 4, false)
	require.Empty(t, r.m.shards.kinds, "the others have not been heard")
	r.offers(1, 8, true)
	r.offers(2, 8, true)
	require.Equal(t, 8, r.m.shards.kinds["cart"].Shards)
	r.wantRefused(0)
}

func TestANewCoordinatorWithoutAJournalDeclaresATypeThatHasNotRunWhenItHasHeardAllMembers(t *testing.T) {
	r := newRig(t, forgetful)
	r.among("a", "b")
	r.offers(0, 8, false)
	r.offers(1, 4, false)
	require.Equal(t, 8, r.m.shards.kinds["cart"].Shards)
	r.wantRefused(1)
	require.Equal(t, map[string]int{"a": 8}, r.homes())
}

func TestTheStoredNumberOfShardsDecidesWhoeverIsHeardFirst(t *testing.T) {
	r := newRig(t)
	r.join("a", "b", "c")
	r.nodes = nil
	r.begin(2)
	for _, name := range []string{"a", "b"} {
		r.nodes = append(r.nodes, home.Node{Name: name, Address: name, Incarnation: r.next(), Up: true, Reachable: true})
	}
	r.do(home.ViewChanged{Nodes: r.nodes})
	r.offers(0, 4, false)
	r.offers(1, 8, false)
	require.Equal(t, 8, r.m.shards.kinds["cart"].Shards)
	r.wantRefused(0)
}
