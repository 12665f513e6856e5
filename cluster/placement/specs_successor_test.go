package placement

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
)

func TestRequestsOfTwoCoordinatorsAreNeverTheSame(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	r.holdStarts = true
	r.placed(specOf("x"))
	on, old := r.heldStart("x")
	r.boot()
	r.held = nil
	r.placed(specOf("y"))
	_, young := r.heldStart("y")
	require.Less(t, old.ID.Epoch, young.ID.Epoch)
	// The acknowledgement of the first request does not count for the second.
	r.hear(on, home.FromAgent{StartAck: &home.StartAck{ID: old.ID, Label: "y"}})
	require.Equal(t, Pending, r.status("y").State)
}

func TestAnotherCoordinatorFindsAllSpecsAndStartsNothingTwice(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	for i := range 10 {
		r.placed(specOf(fmt.Sprint("s", i)))
	}
	before := r.m.Statuses()
	started := len(r.started)
	r.boot()
	after := r.m.Statuses()
	require.Len(t, after, len(before))
	for i := range before {
		require.Equal(t, before[i].Node, after[i].Node)
		require.Equal(t, Running, after[i].State)
	}
	require.Len(t, r.started, started)
	require.Empty(t, r.sends, "nothing had to be asked")
}

// A coordinator has stored where it places an actor, and ends before it has sent the request.
func TestAnotherCoordinatorSendsWhatWasNotSent(t *testing.T) {
	r := newSpecsRig(t, "a")
	r.journal["s"] = recorded(specOf("s"), home.Record{Node: "a", Incarnation: r.nodes["a"].Incarnation, Request: home.RequestID{Epoch: 1, N: 5}})
	r.boot()
	r.runs("s", "a")
	require.Equal(t, home.RequestID{Epoch: 1, N: 5}, r.agents[home.IDOf(r.nodes["a"])]["s"].ID)
}

func TestNothingIsPlacedBeforeTheNodesHaveReportedOrHadTheirTime(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	silent := home.IDOf(r.nodes["b"])
	runs := r.agents[silent]
	delete(r.agents, silent) // it runs no placement, or does not answer
	r.boot()
	asked := r.submit(specOf("s"))
	r.passing(rigConfig.AckTimeout, func() { r.pending(asked) }, func() { r.done(asked) })
	r.runs("s", "a")
	late := r.submit(with("t", Constraints{RequiredNode: "b"}))
	r.pass(readyWait)
	require.ErrorIs(t, r.answers[late].Err, ErrNoEligibleNodes)
	r.agents[silent] = runs // it does now
	r.pass(time.Minute)
	require.Equal(t, "b", r.placed(with("t", Constraints{RequiredNode: "b"})))
}

func TestANodeThatHasNotReportedIsAskedForNothingElse(t *testing.T) {
	cfg := rigConfig
	cfg.Epoch = 2
	m, now := newPlanner(cfg), time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	at := home.RequestID{Epoch: 1, N: 1}
	m.Replay(join(map[string]home.Record{
		"s": recorded(specOf("s"), home.Record{Node: "a", Incarnation: 1, Request: at}),
		"r": {Node: "a", Incarnation: 1, Request: home.RequestID{Epoch: 1, N: 2}, Ended: true},
	}, nil))
	sent := func(in home.Input) (all []any) {
		_, effects := m.Step(in, now)
		for _, e := range effects {
			if e, ok := e.(home.Send); ok {
				all = append(all, e.Msg)
			}
		}
		return all
	}
	require.Empty(t, sent(home.Recovered{}))
	require.Equal(t, []any{home.ReportRequest{Epoch: 2}}, sent(home.ViewChanged{Nodes: []home.Node{{Name: "a", Incarnation: 1, Up: true, Reachable: true}}}))
	now = now.Add(cfg.AckTimeout)
	require.Equal(t, []any{home.ReportRequest{Epoch: 2}}, sent(home.Tick{}))
	now = now.Add(cfg.AckTimeout)
	require.Empty(t, sent(home.Tick{}), "less and less often")
	require.Equal(t, []any{home.StopRequest{ID: home.RequestID{Epoch: 1, N: 2}, Label: "r", Epoch: 2}, home.StartRequest{ID: at, Label: "s", Type: "t", Epoch: 2}},
		sent(home.Received{Message: home.FromAgent{Node: "a", Incarnation: 1, Report: &home.Report{Epoch: 2}}}))
}

func TestWhatRunsAndIsNotWantedIsStopped(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	r.placed(specOf("s"))
	orphan := home.Reported{ID: home.RequestID{Epoch: 1, N: 77}, Label: "orphan", Started: true}
	double := home.Reported{ID: home.RequestID{Epoch: 1, N: 78}, Label: "s", Started: true}
	r.agents[home.IDOf(r.nodes["b"])]["orphan"] = orphan
	r.agents[home.IDOf(r.nodes["b"])]["s"] = double
	r.boot()
	require.Empty(t, r.running("orphan"))
	r.runs("s", "a")
	r.absent("orphan")
}

func TestWhatRunsThoughItsSpecIsUnplacedIsStoppedFirst(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	r.journal["s"] = recorded(specOf("s"), home.Record{})
	r.agents[home.IDOf(r.nodes["b"])]["s"] = home.Reported{ID: home.RequestID{Epoch: 1, N: 7}, Label: "s", Started: true}
	r.holdStops = true
	r.boot()
	require.Equal(t, Unplaced, r.status("s").State)
	require.Equal(t, []string{"b"}, r.running("s"))
	r.release()
	r.runs("s", "a")
}

// An agent that has restarted, although its node has not, has lost its actors.
func TestWhatAReportLacksIsStartedAgainUnderTheSameRequest(t *testing.T) {
	r := newSpecsRig(t, "a")
	r.placed(specOf("s"))
	id := home.IDOf(r.nodes["a"])
	was := r.agents[id]["s"].ID
	delete(r.agents[id], "s")
	r.hear(id, home.FromAgent{Report: &home.Report{}}) // unasked, so it is asked
	r.runs("s", "a")
	require.Equal(t, was, r.agents[id]["s"].ID)
}

// Reports of a node that are older than what it has acknowledged since.
func TestAnOldReportChangesNothing(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	a := home.IDOf(r.nodes["a"])
	r.placed(specOf("s"))
	started := len(r.started)
	r.hear(a, home.FromAgent{Report: &home.Report{Epoch: r.epoch}})
	r.runs("s", "a")
	require.Len(t, r.started, started)

	old := r.agents[a]["s"]
	r.done(r.remove("s"))
	r.placed(with("s", Constraints{RequiredNode: "b"}))
	r.hear(a, home.FromAgent{Report: &home.Report{Epoch: r.epoch, Running: []home.Reported{old}}})
	r.runs("s", "b")
	require.ErrorIs(t, r.refused(with("m", Constraints{ColocateWith: "ghost"})), ErrNoEligibleNodes)
}
