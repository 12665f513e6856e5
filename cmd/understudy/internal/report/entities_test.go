package report

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cmd/understudy/internal/status"
)

func TestShardsThatNoOtherNodeCanTakeMakeARestartUnsafe(t *testing.T) {
	self := healthy().Self.ID
	here := status.Home{ID: self, Name: "anna", Reachable: true, Shards: 8}
	for want, of := range map[string]status.EntityType{
		"8 shards of cart run here, and no other member that is up and reachable takes shards of it.": {
			Here: 8, Role: "shop", Homes: []status.Home{here},
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

// After two of three nodes were rolled back, the last one of the newer version has all shards.
func TestShardsThatOnlyOneNodeHasCanMoveToOneThatTakesThem(t *testing.T) {
	const reason = "8 shards of cart run here, and no other member that is up and reachable takes shards of it."
	all := status.EntityType{Name: "cart", Role: "worker", Hosts: true, Shards: 8, Here: 8, Homes: []status.Home{{ID: "a:1#1", Name: "anna", Reachable: true, Shards: 8}}}
	none := status.EntityType{Name: "cart", Role: "worker", Hosts: true, Shards: 8, Homes: all.Homes}
	proxy, refused := none, none
	proxy.Hosts, refused.Refused = false, "it has 16 shards"
	anna := asked{Snapshot: healthy(), details: status.Details{EntityTypes: []status.EntityType{all}}}
	alone := anna
	alone.Snapshot = changed(func(s *status.Snapshot) { s.Members[1].Roles, s.Members[2].Reachable = nil, false })
	says := func(t ...status.EntityType) asked {
		b := bert(func(*status.Snapshot) {})
		b.details.EntityTypes = t
		return b
	}
	cleo := says()
	cleo.Self = cleo.Members[2]
	for name, c := range map[string]struct {
		nodes []asked
		safe  bool
	}{
		"by the roles":             {[]asked{anna}, true},
		"no role":                  {[]asked{alone}, false},
		"by what they say":         {[]asked{anna, says(none), cleo}, true},
		"one is not asked":         {[]asked{anna, says(proxy)}, true},
		"none has started it":      {[]asked{anna, says(), cleo}, false},
		"one is a proxy":           {[]asked{anna, says(proxy), cleo}, false},
		"one takes no part":        {[]asked{anna, says(refused), cleo}, false},
		"the same under two names": {[]asked{alone, alone}, false},
	} {
		safe, err := AskSafe(t.Context(), c.nodes)
		require.NoError(t, err)
		require.NotEqual(t, c.safe, slices.Contains(safe.Reasons, reason), name)
	}
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
