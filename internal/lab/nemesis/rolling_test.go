//go:build linux

package main

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Case 85 of the cases of sharding, with processes: each node leaves and is started again, while
// lists are visited through the others. No visit fails, and each shard moves at most twice.
func TestARollingRestartOfRealNodesFailsNoVisit(t *testing.T) {
	s := newStage(t, options{nodes: 3, lists: 300, secret: newSecret()}, nil)
	s.crowd.patience = 10 * time.Second
	from := clock()
	for n := range s.nodes {
		s.crowd.leave(nodeName(n)) // as a load balancer does
		s.do(Leave, n)
		s.repaired()
		require.NoError(t, s.awaitSettled(t.Context(), true))
		s.crowd.visit(nodeName(n))
		s.pass(time.Second)
	}
	s.finish()
	var slowest time.Duration
	generations := map[string][]uint64{}
	calls := s.rec.called()
	for _, c := range calls {
		require.True(t, c.answered(), "%v through a node that runs", c)
		if c.Invoked >= from {
			slowest = max(slowest, c.Returned-c.Invoked)
		}
		if g := c.Content.Generation.Term; !slices.Contains(generations[c.List], g) {
			generations[c.List] = append(generations[c.List], g)
		}
	}
	moves := 0
	for list, all := range generations {
		require.LessOrEqual(t, len(all)-1, 2, "list %s has been in the generations %v of its shard", list, all)
		moves = max(moves, len(all)-1)
	}
	t.Logf("%d visits in %.1fs, the slowest of them %.3fs; shards moved %d times at most", len(calls), (clock() - from).Seconds(), slowest.Seconds(), moves)
	require.Less(t, slowest, time.Second+loaded)
	require.NoError(t, s.verify(t.Context()))
	require.Empty(t, s.violations)
}
