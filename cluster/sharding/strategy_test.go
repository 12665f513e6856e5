package sharding_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/placement"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// shopWith runs a cluster whose nodes have started the type with some options, and share a journal
// for the coordinator.
func shopWith(t *testing.T, nodes int, f func(t *testing.T, s *shop), opts ...sharding.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &shop{t: t, store: journal.NewMemory(), regions: map[string]*sharding.Region[note]{}, at: map[string]int{}}
		s.opts = append([]sharding.Option{sharding.Shards(16)}, opts...)
		s.logs, s.entries = observer.New(zap.WarnLevel)
		s.Cluster = clustertest.Start(t, nodes, clustertest.WithJournal(s.store), func(_ string, cfg *cluster.Config) { cfg.Logger = zap.New(s.logs) })
		for n := range nodes {
			s.start(fmt.Sprint("n", n+1))
		}
		f(t, s)
	})
}

// A strategy of package placement serves sharding as well.
func TestAStrategyOfPlacementChoosesTheNodesOfShards(t *testing.T) {
	shopWith(t, 3, func(t *testing.T, s *shop) {
		time.Sleep(5 * time.Minute) // n1, which had all shards, gives them away
		require.Equal(t, map[string]int{"n2": 20}, s.where("n3", 20))
		require.Equal(t, "Pinned", s.explained("n3", "e0").Strategy)
		s.Kill("n2")
		time.Sleep(20 * time.Second)
		at := s.where("n3", 20)
		require.Equal(t, 20, at["n1"]+at["n3"], "%v", at)
	}, sharding.WithStrategy(placement.Pinned("n2")))
}

func TestAStrategyThatPanicsEndsNothing(t *testing.T) {
	shopWith(t, 2, func(t *testing.T, s *shop) {
		time.Sleep(5 * time.Minute)
		require.Len(t, s.where("n1", 20), 2, "both nodes host")
		e := s.explained("n1", "e0")
		require.Equal(t, "LeastShards", e.Strategy)
		require.Contains(t, e.Why, "no idea")
		require.Len(t, s.entries.FilterMessageSnippet("strategy of shards has failed").All(), 1)
	}, sharding.WithStrategy(placement.StrategyFunc(func(placement.Node, placement.Spec, placement.View) float64 { panic("no idea") })))
}

func TestWithoutAClusterAStrategyChoosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := actor.NewSystem("alone")
		r := start(t, s, notebook, sharding.WithStrategy(placement.Pinned("elsewhere")))
		require.Equal(t, "a:", read(t, r.Ref("a")))
		require.NoError(t, s.Shutdown(t.Context()))
	})
}
