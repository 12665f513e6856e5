package report

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

func TestShardsThatNoOtherNodeCanTakeMakeARestartUnsafe(t *testing.T) {
	self := healthy().Self.ID
	here := status.Home{ID: self, Name: "anna", Reachable: true, Shards: 8}
	for want, of := range map[string]status.EntityType{
		"8 shards of cart run here, and no other node that is reachable has any.": {
			Here: 8, Homes: []status.Home{here, {ID: "b:1#1", Name: "bert", Shards: 8}},
		},
		"2 shards of cart are about to leave this node.":                     {Here: 8, Leaving: 2, Homes: []status.Home{here}},
		"3 messages to entities of cart wait on this node, and may be lost.": {Held: 3},
	} {
		of.Name = "cart"
		safe := SafeOf(healthy(), status.Details{EntityTypes: []status.EntityType{of}})
		require.False(t, safe.Safe)
		require.Equal(t, []string{want}, safe.Reasons)
	}
	moves := status.EntityType{Name: "cart", Here: 8, Awake: 100, Homes: []status.Home{here, {ID: "b:1#1", Name: "bert", Reachable: true, Shards: 8}}}
	safe := SafeOf(healthy(), status.Details{EntityTypes: []status.EntityType{moves}})
	require.True(t, safe.Safe)
	require.Contains(t, safe.Notes, "8 shards of cart will move, with 100 entities that are awake.")
}

func TestEntitiesAreListedByType(t *testing.T) {
	d := status.Details{EntityTypes: []status.EntityType{{Name: "cart"}, {Name: "session"}}}
	all, err := EntitiesOf(d, "")
	require.NoError(t, err)
	require.Len(t, all.Types, 2)
	require.NotNil(t, all.Types[0].Homes)
	all, err = EntitiesOf(d, "session")
	require.NoError(t, err)
	require.Equal(t, "session", all.Types[0].Name)
	_, err = EntitiesOf(d, "order")
	require.ErrorContains(t, err, `no type of entities "order"`)
}
