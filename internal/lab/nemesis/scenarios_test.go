//go:build linux

package main

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Times that follow from the default settings of all nodes. The constant loaded has the time that a
// busy machine adds.
const (
	detection   = 900 * time.Millisecond // a silent member is unreachable
	stableAfter = 3 * time.Second        // it has been for so long
	decision    = detection + stableAfter + time.Second
	unfenced    = 13 * time.Second // on top, for what nothing fences
)

// Two scenarios are missing here. A step of the wall clock needs a kernel for each node, and a
// flood of messages needs no processes.
func TestNamedScenariosWithRealNodes(t *testing.T) {
	s := newStage(t, options{nodes: 5, workflows: 500, secret: newSecret()}, nil)
	s.play("FiveNodesThatStartAtOnceAreOneCluster", (*stage).fiveNodesFormOneCluster)
	s.play("ASingleNodeIsACluster", (*stage).aSingleNodeIsACluster)
	s.play("ANodeOfAnotherClusterIsRefusedAndNobodyNotices", (*stage).strangersAreRefused)
	s.play("AKilledHostIsUnreachableAtOnceWhereItsMachineLives", (*stage).aKilledHost)
	s.play("AMemberWhoseMachineDiesIsUnreachableAndRemoved", (*stage).aDeadMachine)
	s.play("AHostWhoseMachineDiesIsReplaced", (*stage).aDeadMachineOfTheHost)
	s.play("AProcessThatIsStartedAgainTakesTheOldOnesPlaceAtOnce", (*stage).aQuickRestart)
	s.play("AProcessThatIsStartedAgainElsewhereFollowsTheOldOne", (*stage).aRestartElsewhere)
	s.play("AMemberLeavesWithoutAnyTrouble", (*stage).aMemberLeaves)
	s.play("AHostHandsOverAsItLeaves", (*stage).theHostLeaves)
	s.play("ARollingRestartMovesTheSingletonAtMostOnceForEachNode", (*stage).aRollingRestart)
	s.play("AMinorityThatIsCutOffGoesDownAndComesBack", (*stage).aMinorityIsCutOff)
	s.play("AHostThatIsCutOffStopsBeforeItIsReplaced", (*stage).theHostIsCutOff)
	s.play("AMemberThatOnlyDatagramsReachIsUnreachable", (*stage).onlyDatagramsPass)
	s.play("WithoutDatagramsNobodyIsUnreachable", (*stage).noDatagramsPass)
	s.play("AHostThatStopsForAMomentIsNotMissed", (*stage).theHostStopsForAMoment)
	s.play("AHostThatStopsForTwoSecondsStaysTheHost", (*stage).theHostStopsForSeconds)
	s.play("AHostThatStopsForLongIsReplacedAndFenced", (*stage).theHostStopsForLong)
	s.play("AnObserverThatWasStoppedConvictsNobody", (*stage).anObserverStops)
	s.play("AMemberThatWasStoppedForLongConvictsNobodyAndComesBack", (*stage).anObserverIsDropped)
	s.play("NodesThatWereAllKilledAreOneClusterAgain", (*stage).allAreKilled)
	s.finish()
	require.NoError(t, s.verify(t.Context()))
	require.Empty(t, s.violations)
}

func (s *stage) fiveNodesFormOneCluster() {
	const bound = 3 * time.Second
	for n := range s.nodes {
		for m := range s.nodes {
			s.allSee([]int{n}, s.started, bound+loaded, nodeName(m)+" is up", kind("MemberUp", nodeName(m)))
		}
	}
}

func (s *stage) aSingleNodeIsACluster() {
	const bound = 500 * time.Millisecond
	from := clock()
	p, _ := s.extra(func(cfg *nodeConfig) {
		cfg.Cluster, cfg.Seeds, cfg.Database = "alone", nil, filepath.Join(s.dir, "alone.db")
	})
	s.await(from+bound+loaded, "it runs its singletons", func() bool {
		reply, err := ask(s.dir, p.node, Request{Status: true})
		return err == nil && reply.Status.Up == 1 && reply.Status.Ledger && reply.Status.Ticker
	})
	p.kill()
	s.undisrupted(from)
}

func (s *stage) strangersAreRefused() {
	s.refused("nemesis", func(cfg *nodeConfig) { cfg.Cluster = "another" })
	s.refused("secret", func(cfg *nodeConfig) { cfg.Secret = newSecret() })
	s.refused("TLS", func(cfg *nodeConfig) { cfg.Secret = nil })
}

func (s *stage) aKilledHost() {
	host, _ := s.leading()
	id := s.identityOf(host)
	rest := s.others([]int{host})
	at := s.do(Kill, host)
	s.allSee(rest, at, 600*time.Millisecond, "the host is unreachable", kind("MemberUnreachable", nodeName(host)))
	s.allSee(rest, at, decision+loaded, "the host is removed", removed(id))
	s.await(at+decision+loaded, "another host", func() bool { return s.host() >= 0 })
	s.pass(time.Second)
	s.acknowledged(at, decision+loaded)
}

func (s *stage) aDeadMachine() {
	host, other := s.leading()
	id, generation := s.identityOf(other), s.generation()
	rest := s.others([]int{other})
	at := s.do(Unplug, other)
	s.do(Kill, other)
	least, _ := s.allSee(rest, at, detection+loaded, "it is unreachable", kind("MemberUnreachable", nodeName(other)))
	require.Greater(s.t, least, 300*time.Millisecond, "nothing says that it is dead but its silence")
	least, _ = s.allSee(rest, at, decision+loaded, "it is removed", removed(id))
	require.GreaterOrEqual(s.t, least, stableAfter)
	require.Equal(s.t, host, s.host())
	require.Equal(s.t, generation, s.generation(), "what ran elsewhere has not moved")
}

func (s *stage) aDeadMachineOfTheHost() {
	host, _ := s.leading()
	id := s.identityOf(host)
	rest := s.others([]int{host})
	at := s.do(Unplug, host)
	s.do(Kill, host)
	s.allSee(rest, at, detection+loaded, "the host is unreachable", kind("MemberUnreachable", nodeName(host)))
	s.allSee(rest, at, decision+loaded, "the host is removed", removed(id))
	s.await(at+decision+loaded, "another host", func() bool { return s.host() >= 0 })
	s.pass(time.Second)
	s.acknowledged(at, decision+loaded)
}

func (s *stage) aQuickRestart() {
	_, other := s.leading()
	id := s.identityOf(other)
	rest := s.others([]int{other})
	at := s.do(Kill, other)
	s.repaired()
	_, most := s.allSee(rest, at, 2*time.Second+loaded, "the old process is removed", removed(id))
	require.Less(s.t, most, stableAfter, "it was taken down by proof")
	s.allSee(rest, at, 2*time.Second+loaded, "the new one is up", func(x ObservedEvent) bool {
		return kind("MemberUp", nodeName(other))(x) && x.ID != id
	})
}

func (s *stage) aRestartElsewhere() {
	_, other := s.leading()
	id := s.identityOf(other)
	rest := s.others([]int{other})
	at := s.do(Kill, other)
	p, _ := s.extra(func(cfg *nodeConfig) { cfg.Name = nodeName(other) })
	s.allSee(rest, at, decision+loaded, "the old process is removed", removed(id))
	s.allSee(rest, at, decision+time.Second+loaded, "the new one is up", func(x ObservedEvent) bool {
		return kind("MemberUp", nodeName(other))(x) && x.ID != id
	})
	s.await(clock()+loaded, "it answers", func() bool { // other nodes see that it is up before it opens its socket
		_, err := ask(s.dir, nodeName(other), Request{Leave: true})
		return err == nil
	})
	require.NoError(s.t, p.await(leaveLimit))
	require.NoError(s.t, p.Wait())
}

func (s *stage) aMemberLeaves() {
	_, other := s.leading()
	id, generation := s.identityOf(other), s.generation()
	at := s.do(Leave, other)
	s.parted(at, other, id)
	require.Equal(s.t, generation, s.generation(), "what ran elsewhere has not moved")
}

func (s *stage) theHostLeaves() {
	host, _ := s.leading()
	id := s.identityOf(host)
	at := s.do(Leave, host)
	s.parted(at, host, id)
	s.pass(time.Second)
	s.acknowledged(at, 300*time.Millisecond+loaded)
}

// parted fails unless a node that began to leave at some time is removed gracefully.
func (s *stage) parted(at time.Duration, node int, id string) {
	s.t.Helper()
	rest := s.others([]int{node})
	s.allSee(rest, at, time.Second+loaded, "it is removed, and nothing of it runs", func(x ObservedEvent) bool {
		return removed(id)(x) && x.Clean
	})
	s.noneSees(rest, at, "it is unreachable", kind("MemberUnreachable", nodeName(node)))
	s.noneSees(rest, at, "it is down", kind("MemberDowned", nodeName(node)))
}

func (s *stage) aRollingRestart() {
	from, moves := clock(), len(s.ticking())
	for n := range s.nodes {
		at := s.do(Leave, n)
		s.repaired()
		require.NoError(s.t, s.awaitSettled(s.t.Context(), true))
		s.acknowledged(at, time.Second+loaded)
	}
	require.LessOrEqual(s.t, len(s.ticking()), moves+s.nodes)
	s.noneSees(s.others(nil), from, "a member is down", kind("MemberDowned", ""))
}

func (s *stage) aMinorityIsCutOff() {
	host, _ := s.leading()
	generation := s.generation()
	few := s.others([]int{host})[:2]
	many := s.others(few)
	at := s.do(Partition, few...)
	least, _ := s.allSee(few, at, decision+loaded, "it has lost its place", kind("MembershipLost", ""))
	require.GreaterOrEqual(s.t, least, stableAfter)
	for _, n := range few {
		s.allSee(many, at, decision+loaded, nodeName(n)+" is removed", kind("MemberRemoved", nodeName(n)))
	}
	require.Equal(s.t, generation, s.generation(), "the host is on the side that goes on")
	s.pass(2 * time.Second)
	s.acknowledged(at, loaded)
	s.noneSees(many, at, "it has lost its place", kind("MembershipLost", ""))
	healed := s.repaired()
	for _, n := range few {
		s.allSee(many, healed, 8*time.Second+loaded, nodeName(n)+" is up again", kind("MemberUp", nodeName(n)))
	}
	require.Equal(s.t, generation, s.generation())
}

func (s *stage) theHostIsCutOff() {
	host, _ := s.leading()
	before := len(s.ticking())
	at := s.do(Partition, host)
	s.await(at+decision+unfenced+loaded, "the ticker runs elsewhere", func() bool { return len(s.ticking()) > before })
	s.acknowledged(at, decision+loaded)
	runs := s.ticking()
	old, next := runs[before-1], runs[before]
	end, begin := old.Said[len(old.Said)-1]-at, next.Said[0]-at
	s.show.at(clock(), "the old ticker ended after %.3fs, the next began after %.3fs", end.Seconds(), begin.Seconds())
	require.Equal(s.t, s.running[host].name, old.Node)
	require.NotEqual(s.t, old.Node, next.Node)
	require.LessOrEqual(s.t, end, decision+loaded)
	require.GreaterOrEqual(s.t, begin, stableAfter+unfenced)
}

func (s *stage) onlyDatagramsPass() {
	const streamDead = 5 * time.Second
	_, other := s.leading()
	rest := s.others([]int{other})
	at := s.do(NoTCP, other)
	least, _ := s.allSee(rest, at, streamDead+time.Second+loaded, "it is unreachable", kind("MemberUnreachable", nodeName(other)))
	require.Greater(s.t, least, streamDead-time.Second)
	for _, n := range rest {
		s.noneSees(rest, at, "one of the others is unreachable for one of them", func(x ObservedEvent) bool {
			return kind("MemberUnreachable", nodeName(n))(x) && !slices.Contains(x.By, nodeName(other))
		})
	}
	s.acknowledged(at, loaded)
}

func (s *stage) noDatagramsPass() {
	at := s.do(NoUDP, s.others(nil)...)
	s.pass(8 * time.Second)
	s.undisrupted(at)
	s.acknowledged(at, loaded)
}

// theHostStopsForAMoment is repeated if the machine has made the pause longer. A fifth of a second
// more makes the host unreachable.
func (s *stage) theHostStopsForAMoment() {
	const moment = 500 * time.Millisecond
	for range 5 {
		host, _ := s.leading()
		generation := s.generation()
		at := s.do(Pause, host)
		s.pass(moment - (clock() - at))
		s.repaired()
		s.pass(time.Second)
		stopped, held := s.heldUp([]int{host}, at), s.heldUp(s.others([]int{host}), at)
		s.show.at(clock(), "it was stopped for %.3fs, and no other held up for more than %.3fs", stopped.Seconds(), held.Seconds())
		if stopped <= moment+stall+nap && held <= stall+nap {
			s.noneIsDown(at)
			s.noneSees(s.others(nil), at, "a member is unreachable", kind("MemberUnreachable", ""))
			require.Equal(s.t, generation, s.generation())
			s.acknowledged(at, moment+loaded)
			return
		}
		require.NoError(s.t, s.awaitSettled(s.t.Context(), true))
		s.stabilized()
	}
	s.t.Log("the machine has held up nodes each time, so that who was missed says nothing")
}

func (s *stage) theHostStopsForSeconds() {
	host, _ := s.leading()
	rest := s.others([]int{host})
	generation := s.generation()
	at := s.do(Pause, host)
	s.pass(2*time.Second - (clock() - at))
	resumed := s.repaired()
	s.allSee(rest, at, detection+time.Second, "the host is unreachable", kind("MemberUnreachable", nodeName(host)))
	s.allSee(rest, resumed, time.Second+loaded, "the host is reachable again", kind("MemberReachable", nodeName(host)))
	s.noneSees(s.others(nil), at, "a member is down", kind("MemberDowned", ""))
	require.Equal(s.t, generation, s.generation())
	require.Equal(s.t, host, s.host())
}

func (s *stage) theHostStopsForLong() {
	host, _ := s.leading()
	id := s.identityOf(host)
	rest := s.others([]int{host})
	at := s.do(Pause, host)
	s.allSee(rest, at, decision+loaded, "the host is removed", removed(id))
	s.pass(15*time.Second - (clock() - at))
	s.acknowledged(at, decision+loaded)
	next := s.host()
	require.Contains(s.t, rest, next)
	resumed := s.repaired()
	paused := resumed - at // a node that needs the journal continues the process for a moment if it was writing
	s.allSee([]int{host}, at, paused+200*time.Millisecond+loaded, "it has lost its place", kind("MembershipLost", ""))
	s.allSee(rest, at, paused+8*time.Second+loaded, "it is up again", func(x ObservedEvent) bool {
		return kind("MemberUp", nodeName(host))(x) && x.ID != id
	})
	for _, run := range s.ticking() {
		if last := run.Said[len(run.Said)-1]; run.Node == s.running[host].name && run.Said[0] < at {
			require.Less(s.t, last, resumed+200*time.Millisecond+loaded, "the old instance stops")
		}
	}
	require.Equal(s.t, next, s.host(), "it is the youngest now")
}

func (s *stage) anObserverStops() {
	_, other := s.leading()
	id := s.identityOf(other)
	at := s.do(Pause, other)
	s.pass(2*time.Second - (clock() - at))
	resumed := s.repaired()
	s.pass(2 * time.Second)
	s.convictsNobody(other, resumed)
	s.noneSees(s.others(nil), at, "a member is down", kind("MemberDowned", ""))
	require.Equal(s.t, id, s.identityOf(other))
}

func (s *stage) anObserverIsDropped() {
	_, other := s.leading()
	id := s.identityOf(other)
	rest := s.others([]int{other})
	at := s.do(Pause, other)
	s.pass(5*time.Second - (clock() - at))
	resumed := s.repaired()
	s.allSee(rest, resumed, 8*time.Second+loaded, "it is up again", func(x ObservedEvent) bool {
		return kind("MemberUp", nodeName(other))(x) && x.ID != id
	})
	s.convictsNobody(other, resumed)
	for _, n := range rest {
		s.noneSees(s.others(nil), at, "another is down", kind("MemberDowned", nodeName(n)))
	}
}

// convictsNobody fails if a node regarded another as unreachable after it was continued. Other
// nodes may regard the continued node as unreachable.
func (s *stage) convictsNobody(node int, resumed time.Duration) {
	s.t.Helper()
	s.noneSees(s.others(nil), resumed, nodeName(node)+" does not hear from somebody", func(x ObservedEvent) bool {
		return x.Kind == "MemberUnreachable" && slices.Contains(x.By, nodeName(node))
	})
}

func (s *stage) allAreKilled() {
	var before []string
	all := s.others(nil)
	for _, n := range all {
		before = append(before, s.identityOf(n))
	}
	at := s.do(KillAll, all...)
	started := s.repaired()
	for _, n := range all {
		s.allSee(all, started, 5*time.Second+loaded, nodeName(n)+" is up", kind("MemberUp", nodeName(n)))
	}
	for _, n := range all {
		require.NotContains(s.t, before, s.identityOf(n))
	}
	require.NoError(s.t, s.awaitSettled(s.t.Context(), true))
	s.acknowledged(at, 5*time.Second+loaded)
}

// removed matches the removal of an incarnation.
func removed(id string) func(ObservedEvent) bool {
	return func(x ObservedEvent) bool { return x.Kind == "MemberRemoved" && x.ID == id }
}
