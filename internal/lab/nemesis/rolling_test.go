//go:build linux

package main

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// balancing is how long the restart of a node may take without shards being balanced.
const balancing = 8 * time.Second

// Each node leaves and is started again, while lists are visited through the others. No visit
// fails, and each shard moves at most twice.
func TestARollingRestartOfRealNodesFailsNoVisit(t *testing.T) {
	s := newStage(t, options{nodes: 3, lists: 300, workflows: 200, secret: newSecret()}, nil)
	s.crowd.patience = 10 * time.Second
	from, moves := clock(), 2
	for n := range s.nodes {
		began := clock()
		s.crowd.leave(nodeName(n)) // as a load balancer does
		s.do(Leave, n)
		s.repaired()
		require.NoError(t, s.awaitSettled(t.Context(), true))
		s.crowd.visit(t.Context(), nodeName(n))
		s.pass(time.Second)
		if clock()-began > balancing {
			moves++ // shards may have been balanced meanwhile
		}
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
	most := 0
	for list, all := range generations {
		require.LessOrEqual(t, len(all)-1, moves, "list %s has been in the generations %v of its shard", list, all)
		most = max(most, len(all)-1)
	}
	t.Logf("%d visits in %.1fs, the slowest of them %.3fs; shards moved %d times at most", len(calls), (clock() - from).Seconds(), slowest.Seconds(), most)
	require.Less(t, slowest, time.Second+loaded)
	require.NoError(t, s.verify(t.Context()))
	require.Empty(t, s.violations)
}
