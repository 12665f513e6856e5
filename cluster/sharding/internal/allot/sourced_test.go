package allot

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/sharding/internal/table"
)

// have lets the nodes say what entities they have, in order.
func (r *rig) have(all ...table.Entities) {
	for i, entities := range all {
		r.offer.Entities = entities
		r.hello(r.nodes[i])
	}
	r.offer.Entities = table.Unknown
}

func (r *rig) agreement() table.Agreement {
	return home.Decode[declaration](r.stored.All()[ofType+"cart"].Spec).Type.Sourced
}

// lose removes the first node, which may run for ten seconds more.
func (r *rig) lose() {
	r.gone = append(r.gone, home.Gone{Name: r.nodes[0].Name, Incarnation: r.nodes[0].Incarnation, Until: r.now.Add(10 * time.Second)})
	r.nodes = r.nodes[1:]
	r.do(home.ViewChanged{Nodes: r.nodes, Gone: r.gone})
}

func TestATypeIsEventSourcedWhenAllNodesWithShardsHavePromisedIt(t *testing.T) {
	r := newRig(t)
	r.join("a", "b")
	r.pass(time.Minute)
	require.Equal(t, table.Open, r.agreement())
	r.have(table.EventSourced)
	require.Equal(t, table.Asked, r.agreement(), "b may have others")
	require.False(t, ParseState(r.m.shards.of("cart/0").state()).Fenced)
	r.have(table.EventSourced, table.EventSourced)
	require.Equal(t, table.Agreed, r.agreement())
	require.True(t, ParseState(r.m.shards.of("cart/0").state()).Fenced)
	r.have(table.Unknown, table.EventSourced)
	require.Equal(t, table.Agreed, r.agreement())
}

func TestANodeWithOtherEntitiesKeepsATypeFromBeingEventSourced(t *testing.T) {
	r := newRig(t)
	r.join("a", "b")
	r.pass(time.Minute)
	r.have(table.Plain)
	r.have(table.Plain, table.EventSourced)
	require.Equal(t, table.Open, r.agreement())
	r.lose()
	require.Equal(t, table.Asked, r.agreement(), "what a runs is not fenced")
	r.pass(9 * time.Second)
	require.Less(t, r.homes()["b"], rigShards)
	r.have(table.EventSourced)
	require.Equal(t, table.Asked, r.agreement())
	r.pass(2 * time.Second)
	r.have(table.EventSourced)
	require.Equal(t, rigShards, r.homes()["b"])
	require.Equal(t, table.Agreed, r.agreement())
}

func TestTheShardsOfAnEventSourcedTypeLeaveAFormerMemberAtOnce(t *testing.T) {
	for name, again := range map[string]bool{"by the same coordinator": false, "by the next one": true} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.join("a", "b")
			r.pass(time.Minute)
			r.have(table.EventSourced, table.EventSourced)
			r.lose()
			if again {
				r.begin(2)
				r.pass(2 * time.Second) // in which it hears what the nodes offer
			}
			require.Equal(t, map[string]int{"b": rigShards}, r.homes())
			require.True(t, ParseState(r.lastStart.State).Fenced, "b must run no other entities beside those of a")
		})
	}
}

func TestShardsOfAnEventSourcedTypeStartOnNoNodeThatHasOtherEntities(t *testing.T) {
	r := newRig(t)
	r.join("a")
	r.have(table.EventSourced)
	require.Equal(t, table.Agreed, r.agreement())
	r.offer.Entities = table.Plain
	r.join("b")
	r.lose()
	r.pass(time.Minute)
	require.Empty(t, r.homes())
	r.have(table.Unknown)
	require.Equal(t, map[string]int{"b": rigShards}, r.homes(), "another process")
}

func TestWithAJournalACoordinatorBelievesNoNodeThatATypeIsEventSourced(t *testing.T) {
	r := newRig(t)
	r.offer.Agreed, r.offer.Type.Sourced = true, table.Agreed
	r.join("a")
	require.Equal(t, table.Open, r.agreement(), "the table of a is of another cluster")
}

// A coordinator without a journal believes a node that the former one has told.
func TestWithoutAJournalTheNodesRememberThatATypeIsEventSourced(t *testing.T) {
	for knows, of := range map[table.Agreement]bool{table.Asked: false, table.Agreed: true} {
		r := newRig(t, func(c *Config) { c.Forgetful = true })
		r.join("a", "b")
		r.pass(time.Minute)
		r.stored = home.Ledger{}
		r.gone = []home.Gone{{Name: "c", Incarnation: 9, Until: r.now.Add(10 * time.Second)}}
		r.offer.Agreed, r.offer.Type.Sourced, r.offer.Entities = true, knows, table.EventSourced
		r.begin(2, func(c *Config) { c.Forgetful = true })
		r.pass(3 * time.Second)
		require.Equal(t, of, r.agreement() == table.Agreed, "c may have other entities")
		require.Equal(t, of, r.homes()["a"] > 0)
		r.pass(8 * time.Second)
		require.Equal(t, table.Agreed, r.agreement())
		require.Positive(t, r.homes()["a"])
	}
}
