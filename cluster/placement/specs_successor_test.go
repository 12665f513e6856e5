package placement

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Case 70.
func TestRequestsOfTwoCoordinatorsAreNeverTheSame(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	r.holdStarts = true
	r.placed(specOf("x"))
	on, old := r.heldStart("x")
	r.boot()
	r.held = nil
	r.placed(specOf("y"))
	_, young := r.heldStart("y")
	require.NotEqual(t, old.ID, young.ID)
	require.True(t, old.ID.less(young.ID))
	// The ack of the first is none of the second.
	r.hear(on, fromAgent{StartAck: &startAck{ID: old.ID, Label: "y"}})
	require.Equal(t, Pending, r.status("y").State)
}

func TestAnotherCoordinatorFindsAllSpecsAndStartsNothingTwice(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	for i := range 10 {
		r.placed(specOf(fmt.Sprint("s", i)))
	}
	before := r.m.statuses()
	started := len(r.started)
	r.boot()
	after := r.m.statuses()
	require.Len(t, after, len(before))
	for i := range before {
		require.Equal(t, before[i].Node, after[i].Node)
		require.Equal(t, Running, after[i].State)
	}
	require.Len(t, r.started, started)
	require.Empty(t, r.sends, "nothing had to be asked")
}

// A coordinator that is gone had stored where it places, and had asked nobody yet.
func TestAnotherCoordinatorSendsWhatWasNotSent(t *testing.T) {
	r := newSpecsRig(t, "a")
	r.journal["s"] = record{Spec: specOf("s"), Node: "a", Incarnation: r.nodes["a"].Incarnation, Request: requestID{Epoch: 1, N: 5}}
	r.boot()
	r.runs("s", "a")
	require.Equal(t, requestID{Epoch: 1, N: 5}, r.agents[r.nodes["a"].id()]["s"].ID)
}

func TestNothingIsPlacedBeforeTheNodesHaveReportedOrHadTheirTime(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	silent := r.nodes["b"].id()
	runs := r.agents[silent]
	delete(r.agents, silent) // it runs no placement, or does not answer
	r.boot()
	asked := r.submit(specOf("s"))
	r.passing(rigConfig.ackTimeout, func() { r.pending(asked) }, func() { r.done(asked) })
	r.runs("s", "a")
	require.ErrorIs(t, r.refused(with("t", Constraints{RequiredNode: "b"})), ErrNoEligibleNodes)
	r.agents[silent] = runs // it does now
	r.pass(time.Minute)
	require.Equal(t, "b", r.placed(with("t", Constraints{RequiredNode: "b"})))
}

func TestANodeThatHasNotReportedIsAskedForNothingElse(t *testing.T) {
	cfg := rigConfig
	cfg.epoch = 2
	m, now := newMachine(cfg), time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	at := requestID{Epoch: 1, N: 1}
	m.replay(fact{Label: "s", Record: &record{Spec: specOf("s"), Node: "a", Incarnation: 1, Request: at}})
	m.replay(fact{Label: "r", Record: &record{Spec: specOf("r"), Node: "a", Incarnation: 1, Request: requestID{Epoch: 1, N: 2}, Removed: true}})
	sent := func(in input) (all []any) {
		_, effects := m.step(in, now)
		for _, e := range effects {
			if e, ok := e.(send); ok {
				all = append(all, e.msg)
			}
		}
		return all
	}
	require.Empty(t, sent(begun{}))
	require.Equal(t, []any{reportRequest{Epoch: 2}}, sent(viewSeen{nodes: []Node{{Name: "a", Incarnation: 1, Up: true, Reachable: true}}}))
	now = now.Add(cfg.ackTimeout)
	require.Equal(t, []any{reportRequest{Epoch: 2}}, sent(passed{}))
	now = now.Add(cfg.ackTimeout)
	require.Empty(t, sent(passed{}), "less and less often")
	require.Equal(t, []any{stopRequest{ID: requestID{Epoch: 1, N: 2}, Label: "r", Epoch: 2}, startRequest{ID: at, Label: "s", Type: "t", Epoch: 2}},
		sent(heard{fromAgent{Node: "a", Incarnation: 1, Report: &report{Epoch: 2}}}))
}

func TestWhatRunsAndIsNotWantedIsStopped(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	r.placed(specOf("s"))
	stray := reported{ID: requestID{Epoch: 1, N: 77}, Label: "stray", Started: true}
	double := reported{ID: requestID{Epoch: 1, N: 78}, Label: "s", Started: true}
	r.agents[r.nodes["b"].id()]["stray"] = stray
	r.agents[r.nodes["b"].id()]["s"] = double
	r.boot()
	require.Empty(t, r.running("stray"))
	r.runs("s", "a")
	r.absent("stray")
}

func TestWhatRunsThoughItsSpecIsUnplacedIsStoppedFirst(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	r.journal["s"] = record{Spec: specOf("s")}
	r.agents[r.nodes["b"].id()]["s"] = reported{ID: requestID{Epoch: 1, N: 7}, Label: "s", Started: true}
	r.holdStops = true
	r.boot()
	require.Equal(t, Unplaced, r.status("s").State)
	require.Equal(t, []string{"b"}, r.running("s"))
	r.release()
	r.runs("s", "a")
}

// An agent that has begun anew, though its node has not, has lost what it ran.
func TestWhatAReportLacksIsStartedAgainUnderTheSameRequest(t *testing.T) {
	r := newSpecsRig(t, "a")
	r.placed(specOf("s"))
	id := r.nodes["a"].id()
	was := r.agents[id]["s"].ID
	delete(r.agents[id], "s")
	r.hear(id, fromAgent{Report: &report{}}) // unasked, so it is asked
	r.runs("s", "a")
	require.Equal(t, was, r.agents[id]["s"].ID)
}

// Reports of a node that are older than what it has acknowledged since.
func TestAnOldReportChangesNothing(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	a := r.nodes["a"].id()
	r.placed(specOf("s"))
	started := len(r.started)
	r.hear(a, fromAgent{Report: &report{Epoch: r.epoch}})
	r.runs("s", "a")
	require.Len(t, r.started, started)

	old := r.agents[a]["s"]
	r.done(r.remove("s"))
	r.placed(with("s", Constraints{RequiredNode: "b"}))
	r.hear(a, fromAgent{Report: &report{Epoch: r.epoch, Running: []reported{old}}})
	r.runs("s", "b")
	require.ErrorIs(t, r.refused(with("m", Constraints{ColocateWith: "ghost"})), ErrNoEligibleNodes)
}
