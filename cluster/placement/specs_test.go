package placement

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
)

func TestSpecsAreSubmittedListedByLabelAndRemoved(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	require.Equal(t, "a", r.placed(specOf("zeta")))
	require.Equal(t, "b", r.placed(specOf("alpha").WithCrashStrategy(Abandon())))
	require.ErrorIs(t, r.refused(with("zeta", Constraints{RequiredNode: "b"})), ErrExists)
	r.runs("zeta", "a") // as it was first
	all := r.m.Statuses()
	require.Len(t, all, 2)
	require.Equal(t, "alpha", all[0].Spec.Label)
	require.Equal(t, Abandon(), all[0].Spec.OnCrash)
	require.Equal(t, "zeta", all[1].Spec.Label)
	r.done(r.remove("zeta"))
	r.done(r.remove("alpha"))
	require.Empty(t, r.m.Statuses())
	r.failedWith(r.remove("alpha"), ErrNotFound)
}

func TestTheViewShowsNodesAndWhatTheyRun(t *testing.T) {
	r := newSpecsRig(t, "a:edge", "b:worker")
	r.meta("b", map[string]string{"volume": "docs"})
	r.placed(with("s", Constraints{Roles: []string{"worker"}}))
	v := r.m.View()
	require.Len(t, v.Nodes, 2)
	require.Len(t, v.Alive(), 2)
	b, ok := v.Node("b")
	require.True(t, ok)
	require.Equal(t, []string{"worker"}, b.Roles)
	require.Equal(t, map[string]string{"volume": "docs"}, b.Meta)
	require.Equal(t, []string{"s"}, b.Actors)
	r.change("b", func(n *home.Node) { n.Reachable = false })
	require.Len(t, r.m.View().Alive(), 1)
	require.Len(t, r.m.View().Nodes, 2)
	require.True(t, b.Alive(), "a view does not change")
}

func TestTheViewFollowsActorsAndNodes(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	r.placed(specOf("s"))
	n, ok := r.m.View().Find("s")
	require.True(t, ok)
	require.Equal(t, "a", n.Name)
	_, ok = r.m.View().Find("t")
	require.False(t, ok)

	r.crash("a")
	n, ok = r.m.View().Find("s")
	require.True(t, ok)
	require.Equal(t, "b", n.Name)
	require.Len(t, r.m.View().Nodes, 1)

	r.back(9, "a") // empty, whatever its last incarnation has run
	a, ok := r.m.View().Node("a")
	require.True(t, ok)
	require.Empty(t, a.Actors)

	r.done(r.remove("s"))
	_, ok = r.m.View().Find("s")
	require.False(t, ok)
}

func TestWhatIsOnItsWayCountsAsLoad(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	r.holdStarts = true
	counts := map[string]int{}
	for i := range 6 {
		counts[r.placed(specOf(fmt.Sprint("s", i)))]++
	}
	require.Equal(t, map[string]int{"a": 3, "b": 3}, counts)
}

func TestHardConstraintsOutrankTheLoad(t *testing.T) {
	r := newSpecsRig(t, "alpha", "beta")
	require.Equal(t, "beta", r.placed(with("writer/c1", Constraints{RequiredNode: "beta"})))
	require.Equal(t, "beta", r.placed(with("reader/c1", Constraints{ColocateWith: "writer/c1"})))
	require.Equal(t, "beta", r.placed(with("pinned", Constraints{RequiredNode: "beta"})))
	require.Equal(t, "alpha", r.placed(specOf("free")))
	require.ErrorIs(t, r.refused(with("lonely", Constraints{ColocateWith: "nobody"})), ErrNoEligibleNodes)
	require.ErrorIs(t, r.refused(with("ghost", Constraints{RequiredNode: "ghost"})), ErrNoEligibleNodes)
	r.change("beta", func(n *home.Node) { n.Reachable = false })
	require.ErrorIs(t, r.refused(with("reader/c2", Constraints{ColocateWith: "writer/c1"})), ErrNoEligibleNodes)
	r.runs("pinned", "beta") // unreachable alone moves nothing
	r.crash("beta")
	r.inState("pinned", Unplaced)
	r.inState("reader/c1", Unplaced)
	require.ErrorIs(t, r.refused(with("pinned/2", Constraints{RequiredNode: "beta"})), ErrNoEligibleNodes)
}

func TestNothingIsColocatedWithWhatIsNotToStay(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	r.placed(specOf("s"))
	r.holdStops = true
	r.remove("s")
	n, _ := r.m.View().Node("a")
	require.True(t, n.Runs("s"))
	require.ErrorIs(t, r.refused(with("f", Constraints{ColocateWith: "s"})), ErrNoEligibleNodes)
	require.ErrorIs(t, r.refused(with("g", Constraints{RequiredNode: "a", AntiAffinity: []string{"s"}})), ErrNoEligibleNodes)

	b := home.IDOf(r.nodes["b"])
	r.hear(b, home.FromAgent{Report: &home.Report{Epoch: r.epoch, Running: []home.Reported{{ID: home.RequestID{Epoch: 1, N: 77}, Label: "orphan", Started: true}}}})
	require.ErrorIs(t, r.refused(with("h", Constraints{ColocateWith: "orphan"})), ErrNoEligibleNodes)
}

func TestASubmissionThatFailsStoresNothing(t *testing.T) {
	r := newSpecsRig(t, "a")
	require.ErrorIs(t, r.refused(with("s", Constraints{Roles: []string{"gpu"}})), ErrNoEligibleNodes)
	require.ErrorIs(t, r.refused(Spec{Label: "s"}), ErrInvalid)
	r.absent("s")
	_, err := r.m.Explain("s")
	require.ErrorIs(t, err, ErrNotFound)
}

func TestColocationInACircleIsInvalid(t *testing.T) {
	r := newSpecsRig(t, "a")
	r.placed(specOf("x"))
	r.placed(with("y", Constraints{ColocateWith: "x"}))
	r.placed(with("z", Constraints{ColocateWith: "y"}))
	r.done(r.remove("x"))
	r.runs("y", "a") // goes on without
	require.ErrorIs(t, r.refused(with("x", Constraints{ColocateWith: "z"})), ErrInvalid)
}

func TestAntiAffinityHoldsForWhoeverComesLater(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	require.Equal(t, "a", r.placed(with("shy", Constraints{AntiAffinity: []string{"loud"}})))
	require.Equal(t, "b", r.placed(specOf("x")))
	require.Equal(t, "b", r.placed(with("y", Constraints{RequiredNode: "b"})))
	require.Equal(t, "b", r.placed(specOf("loud")), "though a runs less")
	r.done(r.remove("shy"))
	require.Equal(t, "a", r.placed(specOf("z")))
}

func TestAStrategyThatPanicsFailsTheSubmissionAndNothingElse(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	r.placed(specOf("s"))
	panics := true
	r.m.specs.cfg.Strategy = StrategyFunc(func(home.Node, Spec, home.View) float64 {
		if panics {
			panic("no idea")
		}
		return 1
	})
	require.ErrorIs(t, r.refused(specOf("t")), ErrStrategy)
	r.absent("t")
	r.crash("a") // what is placed anew is tried again
	st := r.inState("s", Unplaced)
	require.Contains(t, st.LastError, "no idea")
	require.Equal(t, r.now.Add(time.Second), st.NextAttempt)
	e, err := r.m.Explain("s")
	require.NoError(t, err)
	require.Contains(t, e.Error, "no idea")
	panics = false
	r.pass(time.Second)
	r.runs("s", "b")
}

func TestAStartThatFailsIsTriedAgainWithBackoffAndElsewhereFirst(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	var tried []string
	r.failStart = func(_ home.StartRequest, on home.NodeID) string {
		tried = append(tried, on.Name)
		return "out of memory"
	}
	r.placed(specOf("s"))
	waits := []time.Duration{1, 2, 4, 8, 16, 30, 30} // seconds
	for i, wait := range waits {
		st := r.inState("s", Unplaced)
		require.Equal(t, "out of memory", st.LastError)
		require.Equal(t, i+1, st.Attempts)
		require.Equal(t, r.now.Add(wait*time.Second), st.NextAttempt)
		require.Empty(t, st.Node)
		r.pass(wait * time.Second)
	}
	require.Equal(t, []string{"a", "b", "a"}, tried[:3])
	r.failStart = nil
	r.pass(30 * time.Second)
	st := r.status("s")
	require.Equal(t, Running, st.State)
	require.Empty(t, st.LastError)
	require.Zero(t, st.Attempts)
	require.Zero(t, st.NextAttempt)
}

func TestWhatEndsByItselfIsStartedAgainLaterAndLaterIfItDoesSoSoon(t *testing.T) {
	r := newSpecsRig(t, "b")
	r.placed(specOf("s"))
	for _, wait := range []time.Duration{1, 2, 4} {
		r.end("b", "s", "a bug")
		require.Equal(t, "a bug", r.inState("s", Unplaced).LastError)
		r.passing(wait*time.Second, func() { r.inState("s", Unplaced) }, func() { r.runs("s", "b") })
	}
	r.pass(31 * time.Second) // it has run well
	r.end("b", "s", "")
	require.Equal(t, "it has stopped by itself", r.inState("s", Unplaced).LastError)
	r.pass(time.Second)
	r.runs("s", "b")
	last, ok := r.sends[len(r.sends)-1].Msg.(home.StartRequest)
	require.True(t, ok)
	require.Equal(t, "s", last.Label)
}

// The agent says it again until it is told.
func TestAnEndIsAcknowledgedWheneverItIsSaid(t *testing.T) {
	r := newSpecsRig(t, "a")
	r.placed(specOf("s"))
	on := home.IDOf(r.nodes["a"])
	was := r.agents[on]["s"].ID
	r.holdStops = true
	for range 2 {
		r.held = nil
		r.hear(on, home.FromAgent{Ended: &home.Ended{ID: was, Label: "s"}})
		require.Len(t, r.held, 1)
		require.Equal(t, home.StopRequest{ID: was, Label: "s", Epoch: r.epoch}, r.held[0].Msg)
		r.pass(time.Minute) // it runs again, under another request
	}
	r.runs("s", "a")
	require.NotEqual(t, was, r.agents[on]["s"].ID)
}

func TestAcksMayComeInAnyOrder(t *testing.T) {
	for _, order := range []string{"xyz", "xzy", "yxz", "yzx", "zxy", "zyx"} {
		r := newSpecsRig(t, "a", "b", "c")
		r.holdStarts = true
		for _, label := range []string{"x", "y", "z"} {
			r.placed(specOf(label))
		}
		for i, label := range order {
			on, m := r.heldStart(string(label))
			r.ackStart(on, m)
			require.Equal(t, Running, r.status(string(label)).State)
			require.Empty(t, r.m.nodes.Awaited(string(label)))
			for _, later := range order[i+1:] {
				require.NotEmpty(t, r.m.nodes.Awaited(string(later)))
			}
		}
		r.runs("x", "a")
		r.runs("y", "b")
		r.runs("z", "c")
	}
}

func TestAcksOfUnknownRequestsMeanNothing(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	r.placed(specOf("s"))
	before, view, journal := r.m.Statuses(), r.m.View(), fmt.Sprint(r.journal)
	id := home.IDOf(r.nodes["a"])
	known := r.agents[id]["s"].ID
	for _, msg := range []home.FromAgent{
		{StartAck: &home.StartAck{ID: home.RequestID{Epoch: 9, N: 9}, Label: "s"}},
		{StartAck: &home.StartAck{ID: home.RequestID{Epoch: 9, N: 9}, Label: "s", Error: "no"}},
		{StartAck: &home.StartAck{ID: known, Label: "other", Error: "no"}},
		{StartAck: &home.StartAck{ID: known, Label: "s"}}, // a second time
		{StopAck: &home.StopAck{ID: home.RequestID{Epoch: 1, N: 99}, Label: "s"}},
		{StopAck: &home.StopAck{ID: known, Label: "s", Error: "why"}},
		{Ended: &home.Ended{ID: home.RequestID{Epoch: 1, N: 99}, Label: "s"}},
		{},
	} {
		r.hear(id, msg)
		r.hear(home.NodeID{Name: "b", Incarnation: 1}, msg) // another incarnation
		r.hear(home.NodeID{Name: "ghost"}, msg)
	}
	require.Equal(t, before, r.m.Statuses())
	require.Equal(t, view, r.m.View())
	require.Equal(t, journal, fmt.Sprint(r.journal))
}

func TestRequestsAreSentAgainUntilTheyAreAnswered(t *testing.T) {
	r := newSpecsRig(t, "a")
	r.holdStarts, r.holdStops = true, true
	r.placed(specOf("s"))
	r.pass(20 * time.Second)
	require.Len(t, r.held, 5)
	on, m := r.heldStart("s")
	for _, e := range r.held {
		require.Equal(t, m, e.Msg)
	}
	r.ackStart(on, m)
	r.pass(time.Hour)
	require.Len(t, r.held, 5)
	r.held = nil
	r.remove("s")
	r.pass(10 * time.Second)
	require.Len(t, r.held, 3)
	r.release()
	r.absent("s")
	_, due := r.m.Next()
	require.False(t, due, "nothing is to be done any more")
}

func TestExplainSaysWhyAnActorIsWhereItIs(t *testing.T) {
	r := newSpecsRig(t, "a:worker", "b:edge")
	r.placed(with("s", Constraints{Roles: []string{"worker"}}))
	e, err := r.m.Explain("s")
	require.NoError(t, err)
	require.Equal(t, "a", e.Decision.Node)
	require.Equal(t, Running, e.Status.State)
	require.Equal(t, []Candidate{{Node: "a", Score: 0.5}, {Node: "b", Why: "Roles"}}, e.Candidates)
	require.Empty(t, e.Error)
	r.crash("a")
	e, err = r.m.Explain("s")
	require.NoError(t, err)
	require.Equal(t, Unplaced, e.Status.State)
	require.Zero(t, e.Status.NextAttempt)
	require.Equal(t, []Candidate{{Node: "b", Why: "Roles"}}, e.Candidates)
	require.Contains(t, e.Error, "removed by Roles 1")
}

// The same inputs lead to the same facts and effects, whatever the order of Go's maps.
func TestTheMachineIsDeterministic(t *testing.T) {
	var first string
	for range 5 {
		r := newSpecsRig(t, "a", "b", "c")
		rng := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a schedule, not a secret
		for i := range 40 {
			s := specOf(fmt.Sprint("s", i))
			if i > 5 {
				s.Constraints.ColocateWith = fmt.Sprint("s", rng.IntN(5))
			}
			r.placed(s)
		}
		r.crash("b")
		r.back(20, "b")
		r.drain("c")
		if got := fmt.Sprint(r.started, r.m.Statuses()); first == "" {
			first = got
		} else {
			require.Equal(t, first, got)
		}
	}
}

// Start returns before the coordinator has heard of the node.
func TestASubmissionWaitsForANodeThatIsAboutToBeReady(t *testing.T) {
	r := newSpecsRig(t, "a")
	node := home.Node{Name: "b", Address: "b", Incarnation: 7, UpNumber: 90, Up: true, Reachable: true}
	r.nodes["b"] = node // without an agent
	r.look()
	on := Constraints{RequiredNode: "b"}
	token := r.submit(with("x", on))
	require.NotContains(t, r.answers, token)
	r.agents[home.IDOf(node)] = map[string]home.Reported{}
	r.step(home.Received{Message: home.FromAgent{Node: "b", Incarnation: 7}}) // as placement.Start does
	r.done(token)
	require.Equal(t, "b", r.status("x").Node)
}

func TestASubmissionWaitsForAWhileOnly(t *testing.T) {
	r := newSpecsRig(t, "a")
	r.nodes["b"] = home.Node{Name: "b", Address: "b", Incarnation: 7, UpNumber: 90, Up: true, Reachable: true}
	r.look()
	token := r.submit(with("x", Constraints{RequiredNode: "b"}))
	at, ok := r.m.Next()
	require.True(t, ok)
	require.False(t, at.After(r.now.Add(readyWait)))
	r.now = r.now.Add(readyWait)
	r.step(home.Tick{})
	require.ErrorIs(t, r.answers[token].Err, ErrNoEligibleNodes)
	require.ErrorIs(t, r.refused(with("y", Constraints{RequiredNode: "c"})), ErrNoEligibleNodes, "it is no member")
}
