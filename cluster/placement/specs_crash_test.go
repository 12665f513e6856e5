package placement

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
)

// onA submits a spec that has no other node than a until another is labelled like it.
func (r specsRig) onA(s Spec) {
	r.t.Helper()
	s.Constraints.Meta = map[string]string{"first": "yes"}
	r.meta("a", s.Constraints.Meta)
	require.Equal(r.t, "a", r.placed(s))
}

func TestAnAbandonedActorIsForgottenWhenItsNodeFails(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	require.Equal(t, "a", r.placed(specOf("s").WithCrashStrategy(Abandon())))
	started := len(r.started)
	r.crash("a")
	r.pass(time.Hour)
	r.absent("s")
	require.Len(t, r.started, started)
}

func TestANodeIsWaitedForAsLongAsTheSpecSays(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	require.Equal(t, "a", r.placed(specOf("s").WithCrashStrategy(WaitForReturn(30*time.Second))))
	r.crash("a")
	st := r.inState("s", WaitingForReturn)
	require.Equal(t, "a", st.Node)
	require.Equal(t, r.now.Add(30*time.Second), st.NextAttempt)
	r.passing(30*time.Second, func() { r.inState("s", WaitingForReturn) }, func() { r.runs("s", "b") })
}

func TestANodeThatReturnsInAnotherIncarnationHasItsActorAgain(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	require.Equal(t, "a", r.placed(specOf("s").WithCrashStrategy(WaitForReturn(30*time.Second))))
	r.crash("a")
	r.pass(10 * time.Second)
	r.back(70, "a")
	r.runs("s", "a")
	require.Equal(t, r.nodes["a"].Incarnation, r.journal["s"].Incarnation)
	r.pass(time.Hour)
	r.runs("s", "a")
}

// The timer of an earlier wait does not cut a later one short.
func TestEachWaitHasItsOwnTimer(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	require.Equal(t, "a", r.placed(specOf("s").WithCrashStrategy(WaitForReturn(30*time.Second))))
	r.crash("a")
	r.pass(20 * time.Second)
	r.back(70, "a")
	r.runs("s", "a")
	r.crash("a")
	r.passing(30*time.Second, func() { r.inState("s", WaitingForReturn) }, func() { r.runs("s", "b") })
}

func TestAnotherCoordinatorWaitsNoLonger(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	require.Equal(t, "a", r.placed(specOf("s").WithCrashStrategy(WaitForReturn(30*time.Second))))
	r.crash("a")
	r.pass(20 * time.Second)
	r.boot()
	r.passing(10*time.Second, func() { r.inState("s", WaitingForReturn) }, func() { r.runs("s", "b") })
}

func TestACoordinatorThatFindsANodeGoneDoesWhatTheSpecSays(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	r.onA(specOf("moved"))
	r.onA(specOf("waits").WithCrashStrategy(WaitForReturn(time.Minute)))
	r.onA(specOf("gone").WithCrashStrategy(Abandon()))
	r.meta("b", map[string]string{"first": "yes"})
	r.vanish("a") // together with the coordinator
	r.boot()
	r.runs("moved", "b")
	r.inState("waits", WaitingForReturn)
	r.absent("gone")
}

func TestWhatWasToStartOnANodeThatFailsIsTreatedAsIfItRan(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	r.holdStarts = true
	r.placed(specOf("s"))
	require.Equal(t, "b", r.placed(specOf("t").WithCrashStrategy(WaitForReturn(time.Minute))))
	on, start := r.heldStart("s")
	r.crash("a")
	r.hear(on, home.FromAgent{StartAck: &home.StartAck{ID: start.ID, Label: "s"}}) // too late
	st := r.status("s")
	require.Equal(t, Pending, st.State)
	require.Equal(t, "b", st.Node)
	r.release()
	r.runs("s", "b")
	r.runs("t", "b")
}

func TestWhatHasNoEligibleNodeIsPlacedWhenOneJoins(t *testing.T) {
	r := newSpecsRig(t, "a:worker", "b:edge")
	r.placed(with("s", Constraints{Roles: []string{"worker"}}))
	r.crash("a")
	r.inState("s", Unplaced)
	require.Empty(t, r.journal["s"].Node)
	r.pass(time.Hour)
	r.join(70, "c:edge")
	r.inState("s", Unplaced)
	r.join(71, "d:worker")
	r.runs("s", "d")
}

func TestEachActorOfANodeThatFailsHasItsOwnStrategy(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	r.onA(specOf("moved"))
	r.onA(specOf("waits").WithCrashStrategy(WaitForReturn(time.Minute)))
	r.onA(specOf("gone").WithCrashStrategy(Abandon()))
	r.meta("b", map[string]string{"first": "yes"})
	r.crash("a")
	r.runs("moved", "b")
	r.inState("waits", WaitingForReturn)
	r.absent("gone")
}

func TestReplicasThatAvoidEachOtherAreNeverStacked(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	require.Equal(t, "a", r.placed(with("r1", Constraints{AntiAffinity: []string{"r2"}})))
	require.Equal(t, "b", r.placed(with("r2", Constraints{AntiAffinity: []string{"r1"}})))
	r.crash("b")
	r.runs("r1", "a")
	r.inState("r2", Unplaced)
	r.join(70, "c")
	r.runs("r2", "c")
}

func TestWhatIsAvoidedMakesRoomWhenItIsRemoved(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	r.placed(specOf("r1"))
	r.placed(with("r2", Constraints{AntiAffinity: []string{"r1"}}))
	r.crash("b")
	r.inState("r2", Unplaced)
	r.done(r.remove("r1"))
	r.runs("r2", "a")
}

func TestARequiredNodeIsNeverReplaced(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	require.Equal(t, "a", r.placed(with("s", Constraints{RequiredNode: "a"})))
	require.Equal(t, "a", r.placed(with("t", Constraints{RequiredNode: "a"}).WithCrashStrategy(WaitForReturn(time.Second))))
	r.crash("a")
	r.pass(time.Hour)
	r.inState("s", Unplaced)
	r.inState("t", Unplaced)
	r.back(70, "a")
	r.runs("s", "a")
	r.runs("t", "a")
}

func TestAWaitThatIsOverWithoutAnEligibleNodeEndsWithTheNextOne(t *testing.T) {
	r := newSpecsRig(t, "a:worker", "b:edge")
	r.placed(with("s", Constraints{Roles: []string{"worker"}}).WithCrashStrategy(WaitForReturn(time.Minute)))
	r.crash("a")
	r.passing(time.Minute, func() { r.inState("s", WaitingForReturn) }, func() { r.inState("s", Unplaced) })
	r.join(70, "c:worker")
	r.runs("s", "c")
}

func TestAnActorDoesNotReturnToANodeThatIsNotWhatItWas(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	r.onA(specOf("s").WithCrashStrategy(WaitForReturn(time.Minute)))
	r.meta("b", map[string]string{"first": "yes"})
	r.crash("a")
	r.inState("s", WaitingForReturn)
	r.back(70, "a") // without the metadata
	r.runs("s", "b")
}

// A node that is gone may run until its time is over, unless another incarnation of it is
// there.
func TestNothingIsStartedElsewhereWhileItMayStillRun(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	r.placed(specOf("s"))
	r.gone = []home.Gone{{Name: "a", Incarnation: r.nodes["a"].Incarnation, Until: r.now.Add(10 * time.Second)}}
	node := r.nodes["a"]
	delete(r.nodes, "a")
	r.look()
	require.Equal(t, []string{"a"}, r.running("s"))
	require.Equal(t, "a", r.status("s").Node)
	require.Equal(t, Pending, r.status("s").State)
	e, err := r.m.Explain("s")
	require.NoError(t, err)
	require.Contains(t, e.Awaited, "running on a since")
	require.Contains(t, e.Awaited, "which is no longer a member and may still run it")
	delete(r.agents, home.IDOf(node))
	r.passing(10*time.Second, func() { require.Empty(t, r.running("s")) }, func() { r.runs("s", "b") })
}

func TestAnotherIncarnationOfANodeMeansThatTheFirstIsGone(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	r.placed(specOf("s"))
	old := home.IDOf(r.nodes["a"])
	r.gone = []home.Gone{{Name: "a", Incarnation: old.Incarnation, Until: r.now.Add(time.Hour)}}
	delete(r.agents, old)
	r.back(70, "a")
	st := r.status("s")
	require.Equal(t, Running, st.State)
	r.runs("s", st.Node)
}

func TestUnreachableAloneMovesNoSpec(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	r.placed(specOf("s"))
	r.change("a", func(n *home.Node) { n.Reachable = false })
	r.pass(time.Hour)
	r.runs("s", "a")
}

// They get a place together, and start one after the other.
func TestColocatedActorsOfANodeThatFailsStartAfterTheirAnchor(t *testing.T) {
	r := newSpecsRig(t, "a", "b", "c")
	r.placed(specOf("m")) // the anchor's name comes after those of its followers
	r.placed(with("f", Constraints{ColocateWith: "m"}))
	r.placed(with("e", Constraints{ColocateWith: "f"}))
	r.placed(specOf("load"))
	r.holdStarts = true
	r.crash("a")
	for i, label := range []string{"m", "f", "e"} {
		require.Len(t, r.held, i+1)
		for _, of := range []string{"m", "f", "e"}[i:] {
			require.Equal(t, "c", r.inState(of, Pending).Node)
		}
		r.ackStart(r.heldStart(label))
		r.runs(label, "c")
	}
}

func TestAFollowerWaitsForItsAnchorAndReturnsWithIt(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	wait := WaitForReturn(time.Minute)
	r.placed(specOf("m").WithCrashStrategy(wait))
	r.placed(with("f", Constraints{ColocateWith: "m"}).WithCrashStrategy(wait))
	r.placed(with("e", Constraints{ColocateWith: "m"}))
	r.crash("a")
	r.inState("m", WaitingForReturn)
	r.inState("f", WaitingForReturn)
	r.inState("e", Unplaced)
	r.back(70, "a")
	for _, label := range []string{"m", "f", "e"} {
		r.runs(label, "a")
	}
}

func TestAFollowerDoesNotWaitWhereItsAnchorIsNotToBe(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	r.placed(specOf("m"))
	r.placed(with("f", Constraints{ColocateWith: "m"}).WithCrashStrategy(WaitForReturn(time.Minute)))
	r.crash("a")
	r.runs("m", "b")
	r.runs("f", "b")
}

func TestAFollowerIsMovedToWhereItsAnchorIsPlacedAnew(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	r.placed(specOf("m"))
	r.placed(with("f", Constraints{ColocateWith: "m"}))
	r.end("a", "m", "a bug")
	r.runs("f", "a")
	r.pass(time.Second)
	r.runs("m", "b") // it had failed on a
	r.runs("f", "b")
}
