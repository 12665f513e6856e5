package membership

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// How long steps may take on a local network: until a dead member is unreachable, until the
// downing strategy decides, and until a decision has spread.
const (
	detectionBound = 900 * time.Millisecond
	stableBound    = 3 * time.Second
	spreadBound    = 300 * time.Millisecond
)

// scene returns a world in which all nodes are started at once, and have become a cluster.
func scene(t *testing.T, size int) *world {
	t.Helper()
	w := newWorld(t, 1, size)
	for _, n := range w.nodes {
		n.start()
	}
	w.within(3*time.Second, func() string { return w.among(w.all()...) })
	w.run(3 * time.Second)
	return w
}

func (w *world) all() (all []int) {
	for i := range w.nodes {
		all = append(all, i)
	}
	return all
}

// among returns why the given nodes are not a cluster of exactly these nodes, all up and
// agreed.
func (w *world) among(nodes ...int) string {
	for _, i := range nodes {
		n := w.nodes[i]
		if n.machine == nil || n.machine.phase != phaseMember {
			return fmt.Sprintf("n%d is no member", i+1)
		}
		v := n.shown
		if len(v.Members) != len(nodes) || !v.Converged || len(v.Unreachable()) > 0 {
			return fmt.Sprintf("n%d sees %d members, %d unreachable, converged %v", i+1, len(v.Members), len(v.Unreachable()), v.Converged)
		}
		if leader, _ := v.Leader(); leader.ID() != first1(w.nodes[nodes[0]].shown.Leader()).ID() {
			return fmt.Sprintf("n%d sees the leader %s", i+1, leader.Name)
		}
		for _, j := range nodes {
			if m, ok := v.Member(fmt.Sprintf("n%d", j+1)); !ok || m.Status != Up || m.ID() != w.nodes[j].machine.self {
				return fmt.Sprintf("n%d sees n%d as %v", i+1, j+1, m.Status)
			}
		}
	}
	return ""
}

func first1[T any](v T, _ bool) T { return v }

// within lets time pass until why is empty, and returns how long that took.
func (w *world) within(limit time.Duration, why func() string) time.Duration {
	w.t.Helper()
	begin := w.now
	for why() != "" {
		if w.now.Sub(begin) >= limit {
			w.fail("not within %v: %s", limit, why())
		}
		w.run(10 * time.Millisecond)
	}
	return w.now.Sub(begin)
}

// status returns the status of a node in the view of another one.
func (w *world) status(of, in int) Status {
	m, _ := w.nodes[in].shown.Member(fmt.Sprintf("n%d", of+1))
	return m.Status
}

func TestASingleNodeIsUpInHalfASecond(t *testing.T) {
	w := newWorld(t, 1, 1)
	w.nodes[0].start()
	w.within(500*time.Millisecond, func() string { return w.among(0) })
}

func TestNodesStartedAtOnceAreOneClusterInSeconds(t *testing.T) {
	for size, limit := range map[int]time.Duration{3: 3 * time.Second, 5: 3 * time.Second, 50: 10 * time.Second} {
		w := newWorld(t, 1, size)
		for _, n := range w.nodes {
			n.start()
		}
		w.within(limit, func() string { return w.among(w.all()...) })
	}
}

func TestNobodyFoundsBeforeAllSeedsHaveAnswered(t *testing.T) {
	for seed := range uint64(20) {
		w := newWorld(t, seed, 5)
		for _, n := range w.nodes {
			n.hostUp = false
		}
		last := time.Duration(0)
		for _, n := range w.nodes {
			at := w.between(0, time.Minute)
			last = max(last, at)
			w.after(at, n.start)
		}
		for w.now.Sub(w.begin) < last {
			for _, n := range w.nodes {
				require.True(t, n.machine == nil || n.machine.phase == phaseJoining, "seed %d: n%d found a cluster too early", seed, n.index+1)
			}
			w.run(100 * time.Millisecond)
		}
		w.within(3*time.Second, func() string { return w.among(w.all()...) })
	}
}

func TestWhoJoinsWhileAMemberIsUnreachableWaitsUntilItIsDown(t *testing.T) {
	w := newWorld(t, 1, 4)
	for _, n := range w.nodes[:3] {
		n.start()
	}
	w.nodes[3].hostUp = true
	w.within(3*time.Second, func() string { return w.among(0, 1, 2) })
	w.run(3 * time.Second)
	w.nodes[2].stop(false)
	w.run(detectionBound)
	w.nodes[3].start()
	w.run(time.Second)
	require.Equal(t, Joining, w.status(3, 0))
	took := w.within(detectionBound+stableBound, func() string { return w.among(0, 1, 3) })
	require.Less(t, took+time.Second+detectionBound, detectionBound+2*stableBound+time.Second, "the joining one disturbs the calm once")
}

func TestAWelcomeThatIsLostIsRepeated(t *testing.T) {
	w := newWorld(t, 1, 4)
	for _, n := range w.nodes[:3] {
		n.start()
	}
	w.within(3*time.Second, func() string { return w.among(0, 1, 2) })
	w.nodes[3].start()
	for i := range 3 {
		w.cuts[[2]int{i, 3}]++ // it asks, and receives no answer
	}
	w.run(500 * time.Millisecond)
	require.NotZero(t, w.status(3, 0), "it has been let in")
	require.Equal(t, phaseJoining, w.nodes[3].machine.phase, "and does not know")
	incarnation := w.nodes[3].machine.self
	for i := range 3 {
		w.cuts[[2]int{i, 3}]--
	}
	w.within(2*time.Second, func() string { return w.among(0, 1, 2, 3) })
	require.Equal(t, incarnation, w.nodes[3].machine.self)
}

func TestAMemberThatLeavesIsGoneInASecond(t *testing.T) {
	w := scene(t, 3)
	w.nodes[2].step(LeaveAsked{})
	w.within(time.Second, func() string { return w.among(0, 1) })
}

func TestAllLeaveOneAfterTheOtherAndAtOnce(t *testing.T) {
	w := scene(t, 5)
	for _, n := range w.nodes[1:] {
		n.step(LeaveAsked{})
	}
	w.within(time.Second, func() string { return w.among(0) })
	w.nodes[0].step(LeaveAsked{})
	w.within(time.Second, func() string {
		if w.nodes[0].machine != nil {
			return "the last one has not ended"
		}
		return ""
	})
}

func TestAMemberThatCrashesWhileItLeavesIsTakenDownLikeAnyOther(t *testing.T) {
	w := scene(t, 3)
	n := w.nodes[2]
	n.machine.Step(LeaveAsked{}, w.now) // and the actions are lost
	w.nodes[0].step(Received{From: n.machine.self, msg: tablePush{From: n.machine.self, Table: n.machine.table.pack()}})
	w.run(100 * time.Millisecond)
	require.Equal(t, Leaving, w.status(2, 0))
	n.stop(false)
	w.within(detectionBound+stableBound+time.Second, func() string { return w.among(0, 1) })
}

func TestARollingRestartLeavesOneClusterAllTheTime(t *testing.T) {
	w := scene(t, 5)
	for i, n := range w.nodes {
		n.step(LeaveAsked{})
		rest := slices.DeleteFunc(w.all(), func(j int) bool { return j == i })
		w.within(time.Second, func() string { return w.among(rest...) })
		w.run(2 * time.Second)
		n.start()
		w.within(2*time.Second, func() string { return w.among(w.all()...) })
		w.run(7 * time.Second)
	}
}

func TestAKilledMemberIsRemovedInFiveSeconds(t *testing.T) {
	for seed := range uint64(20) {
		w := newWorld(t, seed, 5)
		for _, n := range w.nodes {
			n.start()
		}
		w.run(10 * time.Second)
		w.nodes[4].stop(false)
		w.within(detectionBound, func() string {
			if w.nodes[0].shown.Reachable(first1(w.nodes[0].shown.Member("n5")).ID()) {
				return "n5 is reachable"
			}
			return ""
		})
		w.within(stableBound+time.Second, func() string { return w.among(0, 1, 2, 3) })
	}
}

func TestAProcessThatIsStartedAgainAtOnceReplacesItselfInTwoSeconds(t *testing.T) {
	w := scene(t, 3)
	w.nodes[0].stop(true)
	w.run(200 * time.Millisecond)
	w.nodes[0].start()
	w.within(2*time.Second, func() string { return w.among(0, 1, 2) })
	leader, _ := w.nodes[1].shown.Leader()
	require.NotEqual(t, "n1", leader.Name, "the new process is the youngest")
}

func TestAZombieThatReturnsAfterAnHourJoinsAsAnotherIncarnation(t *testing.T) {
	w := scene(t, 3)
	zombie := w.nodes[2].machine.self
	w.nodes[2].pause(time.Hour)
	w.within(detectionBound+stableBound+time.Second, func() string { return w.among(0, 1) })
	w.run(time.Hour - 10*time.Second)
	w.within(20*time.Second, func() string { return w.among(0, 1, 2) })
	require.NotEqual(t, zombie, w.nodes[2].machine.self)
	require.Equal(t, Removed, w.nodes[0].machine.table.status(zombie))
}

func TestAClusterThatIsKilledAsAWholeFormsAgain(t *testing.T) {
	for _, gap := range []time.Duration{0, 200 * time.Millisecond, time.Second} {
		w := scene(t, 5)
		for _, n := range w.nodes {
			w.after(time.Duration(n.index)*gap, func() { n.stop(true) })
		}
		w.run(5*gap + 300*time.Millisecond)
		for _, n := range w.nodes {
			w.after(time.Duration(4-n.index)*gap, n.start)
		}
		w.run(5 * gap)
		w.within(5*time.Second, func() string { return w.among(w.all()...) })
	}
}
