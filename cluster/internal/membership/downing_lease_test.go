package membership

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/downing"
	"github.com/understudy-go/understudy/singleton/lease"
)

func byLease(set *Settings) { set.Downing = downing.LeaseMajority{Lease: grantedLease{}} }

// askedForLease returns the requests for the lease since the previous call.
func (r *rig) askedForLease() (numbers []uint64) {
	for _, a := range r.said {
		if a, ok := a.(AcquireLease); ok {
			numbers = append(numbers, a.Number)
		}
	}
	r.said = nil
	return numbers
}

// splitRig returns a rig that has lost all its others for so long that it has just asked for
// the lease. With n2 alone it is the majority, because its address is lower.
func splitRig(t *testing.T, others ...string) *rig {
	t.Helper()
	r := newRig(byLease)
	for i, other := range others {
		r.joins(id(other+":1", uint64(i+2)), other)
	}
	r.said = nil
	for range 200 {
		r.wait(50 * time.Millisecond)
		if numbers := r.askedForLease(); len(numbers) > 0 {
			require.Equal(t, []uint64{1}, numbers)
			return r
		}
	}
	require.Fail(t, "it does not ask")
	return nil
}

func TestTheLeaseDecides(t *testing.T) {
	r := splitRig(t, "n2")
	require.Equal(t, Up, r.table.status(id("n2:1", 2)), "nothing follows before the answer")
	r.happens(LeaseAnswered{Number: 1, Held: true})
	require.GreaterOrEqual(t, r.table.status(id("n2:1", 2)), Down)
	require.Equal(t, phaseMember, r.phase)

	r = splitRig(t, "n2")
	r.happens(LeaseAnswered{Number: 1})
	require.Equal(t, phaseDowned, r.phase)
}

func TestNoAnswerInTimeIsANo(t *testing.T) {
	r := splitRig(t, "n2")
	r.wait(downing.DefaultLeaseTimeout - 100*time.Millisecond)
	require.Equal(t, phaseMember, r.phase)
	r.wait(150 * time.Millisecond)
	require.Equal(t, phaseDowned, r.phase)
	r.happens(LeaseAnswered{Number: 1, Held: true})
	require.Equal(t, phaseDowned, r.phase, "a late yes changes nothing")

	r = splitRig(t, "n2")
	r.clock = r.clock.Add(downing.DefaultLeaseTimeout)
	r.happens(LeaseAnswered{Number: 1, Held: true})
	require.Equal(t, Up, r.table.status(id("n2:1", 2)), "nor does one that comes before the next look at the clock")
}

func TestTheAnswerCountsAlthoughSomebodyJoinsMeanwhile(t *testing.T) {
	r := splitRig(t, "n2")
	r.asks(id("n9:1", 9), joinRequest{Name: "n9"})
	require.Equal(t, Joining, r.table.status(id("n9:1", 9)))
	r.said = nil
	r.wait(100 * time.Millisecond)
	require.Empty(t, r.askedForLease(), "nothing has changed that matters")
	r.happens(LeaseAnswered{Number: 1, Held: true})
	require.GreaterOrEqual(t, r.table.status(id("n2:1", 2)), Down)
}

func TestALeavingMemberThatWasNeverUpIsTakenForOneThatJoins(t *testing.T) {
	r := newRig(nil)
	n2, n3 := id("n2:1", 2), id("n3:1", 3)
	r.joins(n2, "n2")
	r.asks(n3, joinRequest{Name: "n3"})
	r.becomes(n3, Leaving)
	s := r.resolver.situation(r.table.unreachable())
	require.Len(t, s.Members, 3)
	require.True(t, s.Members[2].Joining, "it has no number: else it would be the oldest of all")
	require.False(t, s.Members[1].Joining)
}

func TestTheMinorityAsksLater(t *testing.T) {
	first, second := splitRig(t, "n2"), splitRig(t, "n2", "n3")
	require.InDelta(t, downing.DefaultMinorityDelay, second.clock.Sub(first.clock), float64(200*time.Millisecond))
	second.happens(LeaseAnswered{Number: 1, Held: true})
	require.Equal(t, phaseMember, second.phase, "it was first after all")
}

func TestTheQuestionIsAskedOnce(t *testing.T) {
	r := splitRig(t, "n2")
	r.wait(2 * time.Second)
	require.Empty(t, r.askedForLease())
}

func TestAnAnswerCountsOnlyInItsSituation(t *testing.T) {
	r := splitRig(t, "n2")
	r.hears(id("n2:1", 2), heartbeat{Cluster: r.table.cluster, Seq: uint64(r.clock.UnixNano()) + 1, Stream: true})
	r.wait(50 * time.Millisecond)
	require.Empty(t, r.table.unreachable())
	r.happens(LeaseAnswered{Number: 1})
	require.Equal(t, phaseMember, r.phase, "n2 is back")

	r.said = nil
	r.wait(6 * time.Second)
	require.Equal(t, []uint64{2}, r.askedForLease(), "and then lost again")
	r.happens(LeaseAnswered{Number: 1, Held: true})
	require.Equal(t, Up, r.table.status(id("n2:1", 2)), "that was for another question")
	r.happens(LeaseAnswered{Number: 2, Held: true})
	require.NotEqual(t, Up, r.table.status(id("n2:1", 2)))
}

// unstable returns how long the instability has lasted.
func unstable(c stability, now time.Time) time.Duration {
	since, _ := c.unstableFor(now)
	return since
}

func TestTroubleIsOverAfterARestOrWhenTheLostAreDown(t *testing.T) {
	begin := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	n1, n2, n3 := id("n1:1", 1), id("n2:1", 2), id("n3:1", 3)
	with := func(lost ...ID) table {
		tb := newTable(ClusterID{})
		for _, each := range []ID{n1, n2, n3} {
			tb.members[each] = Member{Address: each.Address, Incarnation: each.Incarnation, Status: Up, UpNumber: each.Incarnation}
		}
		tb.rows[n1] = row{Unreachable: lost}
		return tb
	}
	at := func(s int) time.Time { return begin.Add(time.Duration(s) * time.Second) }
	var c stability
	c.note(with(), at(0))
	require.Zero(t, unstable(c, at(100)))
	c.note(with(n2), at(100))
	c.note(with(), at(101))
	c.settleDown(at(103), 3*time.Second)
	c.note(with(n3), at(103))
	require.Equal(t, 4*time.Second, unstable(c, at(104)), "two seconds are no rest")
	c.note(with(), at(104))
	c.settleDown(at(107), 3*time.Second)
	require.Zero(t, unstable(c, at(107)))

	c.note(with(n2), at(110))
	down := with(n2)
	gone := down.members[n2]
	gone.Status = Down
	down.members[n2] = gone
	c.note(down, at(113))
	require.Zero(t, unstable(c, at(113)), "it is down, which ends that")
}

// grantedLease is a lease that the world grants instead of it.
type grantedLease struct{ lease.Lease }
