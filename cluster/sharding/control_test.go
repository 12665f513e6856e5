package sharding_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/cluster/sharding"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/testkit"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

func TestAPinnedShardIsWhereItWasPutWhateverHappensToItsNode(t *testing.T) {
	shopWith(t, 2, func(t *testing.T, s *shop) {
		for n := range 8 {
			s.tell("n1", fmt.Sprint("e", n), "one")
		}
		time.Sleep(2 * time.Second)
		region := s.region("n1")
		shard := region.Shard("e0")
		require.Equal(t, s.explained("n2", "e0").Shard, shard)
		require.NoError(t, region.Pin(t.Context(), "n3", shard))
		e := s.explained("n2", "e0")
		require.Equal(t, sharding.Running, e.State, "it runs where it can")
		require.Equal(t, "n3", e.Pinned)
		require.Equal(t, "it is pinned to n3, which is no member", e.Why)

		s.Add("n3")
		s.start("n3")
		time.Sleep(2 * time.Second)
		e = s.explained("n2", "e0")
		require.Equal(t, "n3", e.Node)
		require.Equal(t, "it is pinned to n3", e.Why)
		require.Equal(t, "Pinned", e.Strategy)
		require.Equal(t, "one", s.read("n2", "e0"), "it has moved with its entities")

		s.Kill("n1") // the node of the coordinator
		time.Sleep(20 * time.Second)
		s.Crash("n3")
		time.Sleep(20 * time.Second)
		require.Equal(t, "n2", s.explained("n2", "e0").Node)
		s.Add("n3")
		s.start("n3")
		time.Sleep(2 * time.Second)
		require.Equal(t, "n3", s.explained("n2", "e0").Node, "the pin is in the journal")
		require.Equal(t, "one", s.read("n2", "e0"))

		pins, err := s.region("n3").Pins(t.Context())
		require.NoError(t, err)
		require.Equal(t, map[int]string{shard: "n3"}, pins)
		require.NoError(t, s.region("n2").Unpin(t.Context(), shard))
		pins, err = s.region("n3").Pins(t.Context())
		require.NoError(t, err)
		require.Empty(t, pins)
	})
}

// The announcement of a type may reach the coordinator after the first request about it.
func TestAShardCanBePinnedAsSoonAsItsTypeIsStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clustertest.Start(t, 3)
		for _, n := range c.Nodes() {
			r, err := sharding.Start(n, "notebook", func(sharding.Entity) actor.Behavior[note] { return behaviors.Ignore[note] },
				sharding.Shards(8))
			require.NoError(t, err)
			require.NoError(t, r.Pin(t.Context(), n.View().Self.Name, 0))
		}
		r, err := sharding.Start(c.Node("n1"), "other", func(sharding.Entity) actor.Behavior[note] { return behaviors.Ignore[note] },
			sharding.Shards(8))
		require.NoError(t, err)
		require.NoError(t, r.Stop(t.Context(), 3))
	})
}

func TestPinsNeedAJournalAndAShardThatExists(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		region := s.region("n1")
		require.ErrorIs(t, region.Pin(t.Context(), "n1", 0), persistence.ErrNoJournal)
		require.ErrorContains(t, region.Pin(t.Context(), "n1", 16), `type "notebook" has no shard 16: they are 0 to 15`)
		require.ErrorContains(t, region.Stop(t.Context(), -1), "has no shard -1")
		require.ErrorContains(t, region.Pin(t.Context(), "", 0), "needs the name of a node")
		require.ErrorContains(t, region.Pin(t.Context(), strings.Repeat("n", 256), 0), "has 256 bytes, the limit is 255")
		require.ErrorContains(t, region.Pin(t.Context(), "n\xff", 0), "UTF-8")
		require.Panics(t, func() { region.Shard("") })
	})
}

func TestStoppedShardsStartAgainWithTheNextGeneration(t *testing.T) {
	inShop(t, 2, func(t *testing.T, s *shop) {
		time.Sleep(time.Minute)
		region := s.region("n2")
		before := map[string]sharding.Explanation{}
		var shards []int
		for n := range 6 {
			id := fmt.Sprint("e", n)
			s.tell("n1", id, "one")
			before[id] = s.explained("n1", id)
			shards = append(shards, region.Shard(id))
		}
		s.read("n1", "e0")
		s.mu.Lock()
		started := s.at["n1"] + s.at["n2"]
		s.mu.Unlock()
		require.NoError(t, region.Stop(t.Context(), shards...))
		awake := 0
		for _, r := range []string{"n1", "n2"} {
			awake += s.region(r).Stats().Awake
		}
		require.Zero(t, awake, "their entities have ended")
		for id, was := range before {
			require.Equal(t, "one", s.read("n1", id))
			require.Greater(t, s.explained("n1", id).Term, was.Term)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		require.Equal(t, started+6, s.at["n1"]+s.at["n2"], "each has been started once more")
	})
}

func TestStopWaitsForTheHandlersOfEntities(t *testing.T) {
	inShop(t, 0, func(t *testing.T, s *shop) {
		s.opts = append(s.opts, sharding.StopTimeout(20*time.Second))
		s.Add("n1")
		s.start("n1")
		s.tell("n1", "e0", "slow") // takes 14 s
		s.tell("n1", "e0", "late")
		time.Sleep(time.Second)
		ctx, cancel := contextFor(t, 5*time.Second)
		defer cancel()
		shard := s.region("n1").Shard("e0")
		err := s.region("n1").Stop(ctx, shard)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorContains(t, err, fmt.Sprint("still stopping, because a handler is busy or their node is unreachable: ", shard))
		begun := time.Now()
		require.NoError(t, s.region("n1").Stop(t.Context(), s.region("n1").Shard("e0")))
		require.Greater(t, time.Since(begun), 5*time.Second)
		require.Equal(t, "slow late", s.read("n1", "e0"), "what waited is not lost")
	})
}

func TestWithoutAClusterShardsCanBeStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := testkit.NewSystem(t)
		var generations []uint64
		r := start(t, s, func(e sharding.Entity) actor.Behavior[note] {
			generations = append(generations, e.Generation.Term)
			return notebook(e)
		})
		r.Ref("a").Tell(note{Text: "one"})
		require.Equal(t, "a:one", read(t, r.Ref("a")))
		require.NoError(t, r.Pin(t.Context(), "elsewhere", r.Shard("a")))
		pins, err := r.Pins(t.Context())
		require.NoError(t, err)
		require.Empty(t, pins)
		require.NoError(t, r.Stop(t.Context(), r.Shard("a"), r.Shard("b")))
		require.NoError(t, r.Stop(t.Context()))
		require.Zero(t, r.Stats().Awake)
		require.Equal(t, "a:", read(t, r.Ref("a")), "it has begun anew")
		require.Equal(t, []uint64{1, 2}, generations)
	})
}
