//go:build linux

package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Faults of the lease of a singleton, and of processes that hold it. A stopped process stands for a
// machine that sleeps, except that its clocks go on.
func TestRealNodesWithALease(t *testing.T) {
	s := newStage(t, options{nodes: 3, secret: newSecret()}, nil)
	s.play("TheLeaseOfAKilledHostIsWaitedFor", (*stage).theHolderIsKilled)
	s.play("AHolderThatIsStoppedPastItsLeaseDoesNothingMore", (*stage).theHolderIsStopped)
	s.play("AHolderThatIsCutOffEndsBeforeItsLeaseIsTaken", (*stage).theHolderIsCutOff)
	s.play("ALeaseStoreThatCannotBeReached", (*stage).theStoreIsAway)
	s.play("ALeaseThatIsStolen", (*stage).theLeaseIsStolen)
	s.finish()
	require.NoError(t, s.verify(t.Context()))
	require.Empty(t, s.violations)
}

// successor waits until a new instance with a lease has begun. It returns the last instance of
// before and the new one.
func (s *stage) successor(before int, until time.Duration) (old, next Run) {
	s.t.Helper()
	return s.successorWhile(before, func() time.Duration { return until })
}

func (s *stage) successorWhile(before int, until func() time.Duration) (old, next Run) {
	s.t.Helper()
	s.awaitWhile(until, "another instance with the lease", func() bool { return len(s.said(".leased")) > before })
	runs := s.said(".leased")
	return runs[before-1], runs[before]
}

// heldFor is the minimum time that a held lease still lasts at any moment. It is renewed every
// quarter of its TTL.
const heldFor = leaseTTL - leaseTTL/4 - 500*time.Millisecond

// takenWithin is how long it takes at most until another node has the lease of a silent holder.
const takenWithin = max(decision, leaseTTL) + leaseRetry + loaded

func (s *stage) theHolderIsKilled() {
	host, _ := s.leading()
	before := len(s.said(".leased"))
	at := s.do(Kill, host)
	_, next := s.successor(before, at+takenWithin)
	s.show.at(clock(), "another began after %.3fs", (next.Said[0] - at).Seconds())
	require.GreaterOrEqual(s.t, next.Said[0]-at, heldFor)
}

func (s *stage) theHolderIsStopped() {
	host, _ := s.leading()
	before := len(s.said(".leased"))
	at := s.do(Pause, host)
	stopped := s.pauses[len(s.pauses)-1]
	_, next := s.successorWhile(before, func() time.Duration { return stopped.ranUntil() + takenWithin })
	s.show.at(clock(), "another began after %.3fs", (next.Said[0] - at).Seconds())
	require.GreaterOrEqual(s.t, next.Said[0]-at, heldFor)
	require.NotEqual(s.t, s.running[host].name, next.Node)
	s.pass(3*leaseTTL - (clock() - at))
	resumed := s.repaired()
	s.pass(2 * time.Second)
	late := 0
	for _, said := range s.said(".leased")[before-1].Said {
		if said > next.Said[0] {
			late++
			require.Less(s.t, said, resumed+time.Second+loaded)
		}
	}
	require.LessOrEqual(s.t, late, 1, "it may have been in the midst of one message")
}

func (s *stage) theHolderIsCutOff() {
	host, _ := s.leading()
	before := len(s.said(".leased"))
	at := s.do(Partition, host)
	old, next := s.successor(before, at+takenWithin)
	end := old.Said[len(old.Said)-1]
	s.show.at(clock(), "the old one ended after %.3fs, another began after %.3fs", (end - at).Seconds(), (next.Said[0] - at).Seconds())
	require.LessOrEqual(s.t, end-at, leaseTTL)
	require.Less(s.t, end, next.Said[0])
	require.NotEqual(s.t, s.running[host].name, next.Node)
}

func (s *stage) theStoreIsAway() {
	before := s.said(".leased")
	s.do(NoStore)
	s.pass(2 * time.Second)
	s.repaired()
	s.pass(2 * leaseTTL)
	require.Len(s.t, s.said(".leased"), len(before), "that was not noticed")
	at := s.do(NoStore)
	s.pass(2 * leaseTTL)
	runs := s.said(".leased")
	require.Len(s.t, runs, len(before))
	said := runs[len(runs)-1].Said
	require.Less(s.t, said[len(said)-1]-at, leaseTTL, "the holder has ended first")
	back := s.repaired()
	_, next := s.successor(len(before), back+leaseRetry+loaded)
	s.show.at(clock(), "it ended after %.3fs, and was back %.3fs after the store", (said[len(said)-1] - at).Seconds(), (next.Said[0] - back).Seconds())
	require.Equal(s.t, runs[len(runs)-1].Node, next.Node)
}

func (s *stage) theLeaseIsStolen() {
	before := len(s.said(".leased"))
	at := s.do(Steal)
	s.pass(leaseTTL)
	runs := s.said(".leased")
	require.Len(s.t, runs, before)
	said := runs[before-1].Said
	require.Less(s.t, said[len(said)-1]-at, leaseTTL/4+loaded, "the next renewal tells")
	back := s.repaired()
	old, next := s.successor(before, back+leaseRetry+loaded)
	require.Greater(s.t, next.Generation.Term, old.Generation.Term+1, "the thief had one between")
}
