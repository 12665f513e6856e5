package handover

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// simStories is how many seeds each failure of a lease is simulated with, on three nodes.
const simStories = 50

// simStruck is when the fault of a story happens.
const simStruck = simFormed + 6*time.Second

// playFault plays one fault; before is called before anything happens.
func playFault(t *testing.T, f simFault, before func(s *sim)) {
	t.Helper()
	f.after = simStruck - simFormed
	for seed := range uint64(simStories) {
		s := newSim(leasedPlan(seed+1, f), false)
		before(s)
		require.Empty(t, s.run(), "seed %d", seed+1)
		require.True(t, s.found.final)
	}
}

func leasedPlan(seed uint64, faults ...simFault) simPlan {
	return simPlan{seed: seed, mode: simLeased, nodes: 3, lag: 10 * time.Millisecond, drift: 0.01, buffer: 1000, faults: faults}
}

// holders returns how many nodes believe to hold the lease.
func (s *sim) holders() (n int) {
	for _, node := range s.nodes {
		if node.runs && node.keeper.valid() {
			n++
		}
	}
	return n
}

// simLongest returns the longest time without an act that a story may have: until something is
// so, and then until somebody asks for the lease, claims its place and acts.
func simLongest(until time.Duration) time.Duration {
	return until + time.Second + 1500*time.Millisecond
}

// The lease of a host that dies is waited for, and no longer.
func TestTheLeaseOfADeadHostIsWaitedForInEverySchedule(t *testing.T) {
	playFault(t, simFault{kind: simCrash, host: true, lasts: 20 * time.Second}, func(s *sim) {
		s.in(simStruck+simLeaseTTL*2/3, func() {
			require.Equal(t, s.store.token, s.store.holder.token, "it is the dead one's")
			require.Zero(t, s.holders())
		})
		s.in(simStruck+simLongest(simLeaseTTL*102/100), func() {
			require.Equal(t, 1, s.holders())
			require.Less(t, simLeaseTTL*2/3, s.found.gap)
			require.Less(t, s.found.gap, simLongest(simLeaseTTL*102/100))
		})
	})
}

// Clocks that stand still meanwhile are a matter of package lease, which reckons with the
// time of day, too.
func TestAHolderThatSleepsLongerThanItsLeaseDoesNothingMore(t *testing.T) {
	const asleep = 30 * time.Second
	playFault(t, simFault{kind: simPause, host: true, lasts: asleep}, func(s *sim) {
		first := s.nodes[0]
		var old *simInstance // nil when it has just failed by itself
		s.in(simStruck, func() {
			require.True(t, first.keeper.valid())
			old = first.inst
		})
		s.in(simStruck+simLongest(simLeaseTTL*102/100), func() {
			require.NotSame(t, first.keeper, s.store.holder, "another holds it")
			require.Equal(t, 1, s.holders())
		})
		s.in(simStruck+asleep+time.Millisecond, func() { require.True(t, old == nil || !old.runs()) })
		s.in(simStruck+asleep+2*time.Second, func() { require.True(t, old == nil || old.over) })
	})
}

// driftingApart returns a history in which the first node, by whose slow clock little time
// has passed, cannot renew, and a little later is out of sight for the others, by whose fast
// clocks it is soon given up. The store's clock is fast, too.
func driftingApart(seed uint64) *sim {
	const lasts = 20 * time.Second
	s := newSim(leasedPlan(
		seed,
		simFault{kind: simUnstore, after: simStruck - simFormed, lasts: lasts},
		simFault{kind: simIsolate, after: 1800 * time.Millisecond, lasts: lasts},
	), false)
	s.store.rate = 1.05
	for _, n := range s.nodes {
		n.rate = 1.05
	}
	s.nodes[0].rate = 0.95
	return s
}

// A holder by a slow clock ends before a store with a fast one gives the lease away.
func TestClocksThatDriftByFivePercentLetNobodyHoldTwice(t *testing.T) {
	for seed := range uint64(simStories) {
		s := driftingApart(seed + 1)
		s.in(simStruck+simLongest(7*time.Second), func() { require.Equal(t, 1, s.holders()) })
		require.Empty(t, s.run(), "seed %d", seed+1)
	}
}

// The planted mistake: the holder counts on all of its TTL.
func TestAHolderThatReckonsWithNoDriftIsFound(t *testing.T) {
	for seed := range uint64(simStories) {
		s := driftingApart(seed + 1)
		s.plan.careless = true
		if strings.Contains(s.run(), "both leases are valid") {
			return
		}
	}
	require.Fail(t, "no schedule has shown it")
}

// An outage that is short is not noticed; one that is long ends the instance, which is
// back soon after the store.
func TestALeaseStoreThatIsDown(t *testing.T) {
	t.Run("for a moment", func(t *testing.T) {
		const outage = time.Second
		playFault(t, simFault{kind: simOutage, lasts: outage}, func(s *sim) {
			var token uint64
			s.in(simStruck-time.Millisecond, func() { token = s.store.token })
			s.in(simStruck+outage+simLeaseTTL, func() {
				require.Equal(t, token, s.store.token)
				require.Equal(t, 1, s.holders())
			})
		})
	})
	t.Run("for long", func(t *testing.T) {
		const outage = 20 * time.Second
		playFault(t, simFault{kind: simOutage, lasts: outage}, func(s *sim) {
			s.in(simStruck+simLeaseTTL, func() { require.Zero(t, s.holders(), "the holder has ended first") })
			s.in(simStruck+outage-time.Millisecond, func() { require.Zero(t, s.holders()) })
			s.in(simStruck+simLongest(outage), func() {
				require.Equal(t, 1, s.holders())
				require.Less(t, s.found.gap, simLongest(outage+time.Second))
			})
		})
	})
}

// The holder knows with its next renewal, and the lease is asked for again until it is
// free, with a token above the thief's.
func TestALeaseThatIsStolenEndsTheInstance(t *testing.T) {
	const stolen = 10 * time.Second
	for seed := range uint64(simStories) {
		s := newSim(leasedPlan(seed+1, simFault{kind: simPause, node: 2, after: 40 * time.Second}), false)
		var old *simInstance // nil when it has just failed by itself
		var thief uint64
		s.in(simStruck, func() {
			old = s.nodes[0].inst
			thief = s.steal(stolen)
		})
		s.in(simStruck+simLeaseTTL/4+800*time.Millisecond, func() { require.True(t, old == nil || !old.runs(), "seed %d", seed+1) })
		s.in(simStruck+stolen*98/100, func() {
			require.True(t, old == nil || old.over)
			require.Zero(t, s.holders())
		})
		s.in(simStruck+simLongest(stolen*102/100), func() {
			require.Equal(t, 1, s.holders())
			require.Greater(t, s.store.token, thief)
			require.Less(t, s.found.gap, simLongest(stolen*102/100))
		})
		require.Empty(t, s.run(), "seed %d", seed+1)
	}
}
