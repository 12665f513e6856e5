package membership

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/downing"
)

// becomes makes another node announce its status.
func (r *rig) becomes(id ID, s Status) {
	change := r.change()
	m := r.table.members[id]
	m.Status = s
	change.members[id] = m
	r.hears(id, tablePush{From: id, Table: change.pack()})
}

func TestANodeThatLeavesStopsItsActorsBeforeItIsGone(t *testing.T) {
	r := newRig(nil)
	n2 := id("n2:1", 2)
	r.joins(n2, "n2")
	r.happens(LeaveAsked{})
	require.Equal(t, Leaving, r.table.status(r.self))
	r.happens(Stopped{})
	require.Equal(t, Leaving, r.table.status(r.self), "it hands over first")

	r.said = nil
	r.happens(Drained{})
	require.Equal(t, Exiting, r.view().Self.Status)
	require.IsType(t, Stop{}, r.said[len(r.said)-1], "after it has been told")
	pushes := told[tablePush](r, "n2:1")
	require.Len(t, pushes, 1)
	require.Equal(t, Exiting, pushes[0].Table.table().status(r.self))
	r.happens(Drained{})
	require.Equal(t, phaseMember, r.phase, "it is a member until its actors have stopped")

	r.said = nil
	r.happens(Stopped{})
	require.Equal(t, phaseDeparting, r.phase)
	require.Len(t, told[gone](r, "n2:1"), 1)
}

func TestAnExitingMemberThatFallsSilentIsRemovedCleanlyAndStopsNobody(t *testing.T) {
	r := newRig(func(set *Settings) { set.Downing = downing.Manual{} })
	n2, n3 := id("n2:1", 2), id("n3:1", 3)
	r.joins(n2, "n2")
	r.becomes(n2, Leaving)
	r.becomes(n2, Exiting)
	require.Equal(t, Exiting, r.table.status(n2))
	require.True(t, r.converged, "nobody waits for it to agree")

	r.wait(2 * time.Second)
	require.Equal(t, Removed, r.table.status(n2))
	require.True(t, r.table.tombstones[n2].Clean)
	r.asks(n3, joinRequest{Name: "n3"})
	r.agrees()
	require.Equal(t, Up, r.table.status(n3))
}

func TestAnExitingMemberNeitherDecidesNorCounts(t *testing.T) {
	r := newRig(nil)
	n2, n3 := id("n2:1", 2), id("n3:1", 3)
	r.joins(n2, "n2")
	r.joins(n3, "n3")
	r.becomes(n2, Exiting)
	change := r.change()
	change.rows[n2] = row{Version: 9, Unreachable: []ID{n3}}
	r.hears(n2, tablePush{From: n2, Table: change.pack()})
	require.Empty(t, r.table.unreachable(), "its opinion counts for nothing")
	require.Len(t, r.resolver.situation(r.table.unreachable()).Members, 2, "downing does not see it")
	require.NotContains(t, r.table.voters(), n2)

	leader, ok := first(r.table.candidates(Oldest()), func(m Member) bool { return m.ID() != r.self && m.ID() != n3 })
	require.False(t, ok, "%v acts for nobody", leader)
}

func TestALeavingMemberThatFallsSilentHasCrashed(t *testing.T) {
	r := newRig(nil)
	n2, n3 := id("n2:1", 2), id("n3:1", 3)
	r.joins(n2, "n2")
	r.joins(n3, "n3")
	r.becomes(n2, Leaving)
	for range 100 {
		r.wait(50 * time.Millisecond)
		r.hears(n3, heartbeat{
			Cluster: r.table.cluster, Seq: uint64(r.clock.UnixNano()), Stream: true,
			Seen: make([]byte, len(r.seenBy.bits)), Members: r.sums.members, All: r.sums.all,
		})
	}
	require.Equal(t, Removed, r.table.status(n2))
	require.False(t, r.table.tombstones[n2].Clean, "its singletons may still run")
}
