package membership

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWitnessesSpreadAsASet(t *testing.T) {
	ids := manyIDs(rand.New(rand.NewPCG(1, 1)), 20)
	a, b, c := newSeenBy(7, ids, ids[0]), newSeenBy(7, ids, ids[1]), newSeenBy(7, ids, ids[19])
	require.True(t, b.learn(ids[0], 7, a.bits))
	require.True(t, c.learn(ids[1], 7, b.bits), "what b has heard goes on with it")
	for _, i := range []int{0, 1, 19} {
		require.True(t, c.has(ids[i]))
	}
	require.False(t, c.has(ids[2]))
	require.False(t, c.learn(ids[0], 7, a.bits), "told twice it is no news")
	require.False(t, a.has(ids[1]))
}

func TestAWitnessOfOtherMembersIsNone(t *testing.T) {
	ids := manyIDs(rand.New(rand.NewPCG(1, 1)), 9)
	w := newSeenBy(7, ids, ids[0])
	require.False(t, w.learn(ids[1], 8, []byte{255, 255}))
	require.False(t, w.learn(ids[1], 7, []byte{255}), "nor one whose list has another length")
	require.False(t, w.add(ID{Address: "elsewhere:1", Incarnation: 1}))
	require.False(t, w.has(ID{Address: "elsewhere:1", Incarnation: 1}))
	require.False(t, w.has(ids[1]))
}

func TestWitnessesBeginAnewWhenTheMembersChange(t *testing.T) {
	r := newRig(nil)
	r.joins(id("n2:1", 2), "n2")
	require.True(t, r.seenBy.has(id("n2:1", 2)))
	r.asks(id("n3:1", 3), joinRequest{Name: "n3"})
	require.False(t, r.seenBy.has(id("n2:1", 2)))
	require.True(t, r.seenBy.has(r.self))
	require.False(t, r.agree())
}

func TestNewsAreToldAtOnceButNotTooOften(t *testing.T) {
	r := joiningRig()
	r.wait(time.Second)
	beats := func() int { return len(told[heartbeat](r, "n2:1")) }
	beats()
	change := r.change()
	change.members[id("n3:1", 3)] = Member{Name: "n3", Address: "n3:1", Incarnation: 3, Status: Joining}
	r.clock = r.clock.Add(newsEvery)
	r.hears(id("n2:1", 2), tablePush{Table: change.pack()})
	require.Equal(t, 1, beats(), "another sum")
	seq := r.dissemination.seq

	r.clock = r.clock.Add(newsEvery / 2)
	r.hears(id("n2:1", 2), heartbeat{Cluster: r.table.cluster, Seq: 1, Members: r.sums.members, All: r.sums.all, Seen: make([]byte, 1)})
	require.Zero(t, beats(), "a witness more, but too soon")
	r.clock = r.clock.Add(newsEvery / 2)
	r.hears(id("n2:1", 2), heartbeat{Cluster: r.table.cluster, Seq: 2})
	require.Equal(t, 1, beats())
	require.Equal(t, seq, r.dissemination.seq, "they are not of the rhythm that is observed")
}

// running returns a world in which all nodes are up and agree.
func running(t *testing.T, seed uint64, size int) *world {
	t.Helper()
	w := newWorld(t, seed, size)
	for _, n := range w.nodes {
		n.start()
	}
	w.run(10 * time.Second)
	w.checkOneCluster()
	return w
}

// agreeWithin lets time pass until all nodes see the given number of members up, and are
// converged.
func (w *world) agreeWithin(limit time.Duration, members int) time.Duration {
	w.t.Helper()
	start := w.now
	for w.now.Sub(start) < limit {
		w.step(5 * time.Millisecond)
		ready := 0
		for _, n := range w.nodes {
			if n.machine != nil && n.shown.Converged && len(n.shown.Members) == members && n.shown.Self.Status == Up {
				ready++
			}
		}
		if ready == members {
			return w.now.Sub(start)
		}
	}
	w.fail("no agreement within %v", limit)
	return 0
}

// step lets a little time pass without checking the invariants.
func (w *world) step(d time.Duration) {
	end := w.now.Add(d)
	w.occurUntil(end)
	w.now = end
}

// A joining node is up, and all members know it, long before heartbeats would have carried the
// news round the ring at their own rate.
func TestAgreementTakesMillisecondsPerHop(t *testing.T) {
	for size, limit := range map[int]time.Duration{
		3:  200 * time.Millisecond,
		12: 200 * time.Millisecond,
		30: 300 * time.Millisecond,
	} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			w := newWorld(t, 1, size)
			last := w.nodes[size-1]
			for _, n := range w.nodes[:size-1] {
				n.start()
			}
			w.run(8 * time.Second)
			last.start()
			took := w.agreeWithin(limit, size)
			t.Logf("%d nodes: one that starts is up and all agree after %v", size, took)
		})
	}
}

func TestAJoinerThatLeavesAgainDoesNotVoteForTheOthers(t *testing.T) {
	n1, n2, n3 := id("n1:1", 1), id("n2:1", 2), id("n3:1", 3)
	all := newTable(ClusterID{})
	for _, each := range []ID{n1, n2, n3} {
		all.members[each] = Member{Address: each.Address, Incarnation: each.Incarnation, Status: Joining}
	}
	leaver := all.members[n3]
	leaver.Status = Leaving
	all.members[n3] = leaver
	require.Equal(t, []ID{n1, n2, n3}, all.voters(), "nobody has been up")
	first := all.members[n1]
	first.Status, first.UpNumber = Up, 1
	all.members[n1] = first
	require.Equal(t, []ID{n1}, all.voters())
}
