package membership

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/downing"
)

// opinions returns how often each node has changed its own row.
func (w *world) opinions() []uint64 {
	var versions []uint64
	for _, n := range w.nodes {
		versions = append(versions, n.machine.table.rows[n.machine.self].Version)
	}
	return versions
}

func (w *world) identities() []ID {
	var ids []ID
	for _, n := range w.nodes {
		ids = append(ids, n.machine.self)
	}
	return ids
}

// onBothGraphs runs a test in a cluster in which all observe each other, and in one with a ring.
func onBothGraphs(t *testing.T, test func(t *testing.T, size int)) {
	t.Helper()
	for _, size := range []int{5, 14} {
		t.Run(fmt.Sprint(size), func(t *testing.T) { test(t, size) })
	}
}

// The bound holds at any moment of the heartbeat's rhythm.
func TestAKilledProcessIsRefusedWithinATenthOfASecond(t *testing.T) {
	for seed := range uint64(20) {
		w := running(t, seed, 5)
		w.run(w.between(0, time.Second))
		w.nodes[4].stop(true)
		w.step(110 * time.Millisecond)
		for _, n := range w.nodes[:4] {
			require.Len(t, n.shown.Unreachable(), 1)
		}
	}
}

// tries returns how often to repeat a test: more often for small clusters, where it is cheap.
func tries(size int) uint64 {
	if size > allToAll {
		return 1
	}
	return 5
}

// 10 % of the datagrams are lost for an hour, and 10 % of the TCP segments are
// delayed. No member is suspected.
func TestAnHourOfLossIsNoReasonForSuspicion(t *testing.T) {
	w := running(t, 35, 3)
	before := w.opinions()
	w.loss = 0.1
	w.run(time.Hour)
	require.Equal(t, before, w.opinions())
	w.checkOneCluster()
}

// 5 % of all TCP segments and of the datagrams are lost, and no member is
// suspected. Without any datagrams there may be suspicions while TCP waits for the second or
// third time. They pass, and no member is taken down.
func TestLossOnBothLanesTakesNobodyDown(t *testing.T) {
	for _, rough := range []bool{false, true} {
		w := running(t, 36, 3)
		before, ids := w.opinions(), w.identities()
		w.loss = 0.05
		if rough {
			w.rough = map[[2]int]time.Time{}
		}
		w.run(time.Hour)
		require.Equal(t, ids, w.identities())
		if !rough {
			require.Equal(t, before, w.opinions())
			w.checkOneCluster()
			continue
		}
		require.NotEqual(t, before, w.opinions(), "it was rough")
		for _, n := range w.nodes {
			for _, id := range ids {
				require.Equal(t, Up, n.machine.table.status(id))
			}
		}
		w.loss, w.rough = 0, nil
		w.run(3 * time.Second)
		w.checkOneCluster()
	}
}

// All links of a node work for a second, then fail for a second, for a minute.
// Nothing stays the same for long enough to decide. There are never two leaders, and afterwards
// there is one cluster.
func TestAFlappingLinkNeverMakesTwoLeaders(t *testing.T) {
	onBothGraphs(t, func(t *testing.T, size int) {
		w := running(t, 37, size)
		for _, n := range w.nodes {
			n.machine.set.Downing = downing.KeepMajority{KeepUnstable: true}
		}
		before := w.opinions()
		for range 30 {
			w.split(func(from, to int) bool { return (from == 2) != (to == 2) }, time.Second, "flap")
			w.run(2 * time.Second)
		}
		require.NotEqual(t, before, w.opinions(), "it was noticed")
		w.run(10 * time.Second)
		w.checkOneCluster()
	})
}

// Nobody notices when a node is stopped for half a second.
func TestAStopOfHalfASecondIsNotNoticed(t *testing.T) {
	onBothGraphs(t, func(t *testing.T, size int) {
		for seed := range tries(size) {
			w := running(t, seed, size)
			before := w.opinions()
			w.run(w.between(0, time.Second))
			w.nodes[1].pause(500 * time.Millisecond)
			w.run(5 * time.Second)
			require.Equal(t, before, w.opinions())
		}
	})
}

// A node that is stopped for two seconds is unreachable within the first second.
// It is reachable when it runs again, and nothing else has changed.
func TestAStopOfTwoSecondsIsNoticedAndForgotten(t *testing.T) {
	onBothGraphs(t, func(t *testing.T, size int) {
		w := running(t, 39, size)
		ids := w.identities()
		w.nodes[1].pause(2 * time.Second)
		w.run(time.Second)
		for i, n := range w.nodes {
			if i != 1 {
				require.Len(t, n.shown.Unreachable(), 1)
			}
		}
		w.run(1300 * time.Millisecond)
		w.checkOneCluster()
		w.run(10 * time.Second)
		require.Equal(t, ids, w.identities())
		w.checkOneCluster()
	})
}

// An observer that was stopped itself suspects no member for missing heartbeats.
// No member is downed in this test, or the others would continue without the observer.
func TestAnObserverThatWasStoppedBlamesNobody(t *testing.T) {
	onBothGraphs(t, func(t *testing.T, size int) {
		for seed := range tries(size) {
			w := newWorld(t, seed, size)
			w.tune = func(set *Settings) { set.Downing = downing.Manual{} }
			for _, n := range w.nodes {
				n.start()
			}
			w.run(10 * time.Second)
			before := w.opinions()[0]
			w.nodes[0].pause(5 * time.Second)
			w.run(10 * time.Second)
			require.Equal(t, before, w.opinions()[0])
			w.checkOneCluster()
		}
	})
}

// When all nodes stop for ten seconds, as their hypervisor does, and continue
// within a tenth of a second, no member is suspected.
func TestAStopOfTheWholeClusterIsNotNoticed(t *testing.T) {
	onBothGraphs(t, func(t *testing.T, size int) {
		for seed := range tries(size) {
			w := running(t, seed, size)
			before, ids := w.opinions(), w.identities()
			for _, n := range w.nodes {
				n.pause(10*time.Second + w.between(0, 100*time.Millisecond))
			}
			w.run(11 * time.Second)
			require.Equal(t, before, w.opinions())
			require.Equal(t, ids, w.identities())
			w.checkOneCluster()
		}
	})
}
