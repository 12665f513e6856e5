package sharding

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/sharding/internal/allot"
)

func TestProblemsOfShardsSayWhatRunsNowhereAndWhy(t *testing.T) {
	homeless := func(why string, shards ...int) []allot.Homeless {
		return []allot.Homeless{{Type: "cart", Why: why, Shards: shards}}
	}
	for want, found := range map[string][]string{
		"Shard 4 of cart runs nowhere: no member that is up hosts the type.":       texts(nil, homeless("no member that is up hosts the type", 4), ""),
		"7 shards of cart run nowhere (1, 2, 3, 4, 5, …): it is so.":               texts(nil, homeless("it is so", 1, 2, 3, 4, 5, 6, 7), ""),
		"This node takes no part in the type cart: shards 16 here and 32 there.":   texts([]typeStatus{{Name: "cart", Refused: "shards 16 here and 32 there"}}, nil, ""),
		"This node hosts nothing of the type cart, because it has no lease: lost.": texts([]typeStatus{{Name: "cart", Lease: "lost"}, {Name: "session", Lease: leaseHeld}}, nil, ""),
		"Shards run nowhere, and their coordinator does not answer: it moves.":     texts(nil, nil, "it moves"),
	} {
		require.Equal(t, []string{want}, found)
	}
}

func texts(types []typeStatus, homeless []allot.Homeless, failure string) (all []string) {
	for _, p := range problemsOf(types, homeless, failure) {
		all = append(all, p.Text)
	}
	return all
}
