package placement

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
)

// A label can be used once; the first spec stays unchanged. A removed spec is gone. A missing spec
// cannot be removed. All specs are listed by label.
func TestALabelIsSubmittedAndRemovedOnce(t *testing.T) {
	t.Parallel()
	r := newCaseRig(t, "alpha", "beta")
	first := everyFieldOn("beta")
	r.place(caseSpec("writer/c1", onlyOn("beta")))
	r.place(first)
	other := caseSpec(first.Label, Constraints{})
	other.State = []byte("another")
	r.failedWith(r.submit(other), ErrExists)
	require.True(t, first.Equal(r.status(first.Label).Spec))
	require.Equal(t, Running, r.status(first.Label).State)
	r.place(caseSpec("a", Constraints{}))
	require.Equal(t, []string{"a running alpha", "storage/photos running beta", "writer/c1 running beta"}, r.specs())

	for _, label := range []string{"writer/c1", "a", "storage/photos"} {
		r.done(r.remove(label))
		r.failedWith(r.remove(label), ErrNotFound)
		require.Empty(t, r.running(label))
	}
	require.Empty(t, r.specs())
	require.Empty(t, r.journal)
	r.failedWith(r.remove("never"), ErrNotFound)
	r.quiet()
	require.Equal(t, "alpha", r.place(other), "the label is free again")
}

// everyFieldOn returns a spec of which every field is set, for a node beside "writer/c1".
func everyFieldOn(node string) Spec {
	s := everyField()
	s.Constraints.Roles, s.Constraints.Meta, s.Constraints.RequiredNode = nil, nil, node
	return s
}

// The decision comes before the actor runs, and is kept; it is Running when its node says so. A
// spec without an eligible node is refused and not stored.
func TestASubmissionIsAnsweredBeforeTheActorRuns(t *testing.T) {
	t.Parallel()
	r := newCaseRig(t, "alpha")
	r.holdStarts = true
	require.Equal(t, "alpha", r.place(caseSpec("a", Constraints{})))
	require.Equal(t, []string{"a pending alpha"}, r.specs())
	require.Contains(t, r.journal, "a")
	require.Empty(t, r.running("a"))
	r.removedBy(caseSpec("b", onlyOn("beta")))
	require.NotContains(t, r.journal, "b")
	r.release()
	require.Equal(t, []string{"a running alpha"}, r.specs())
	r.quiet()
}

// A failed start is repeated after a growing delay, on another node if there is one. The error
// shows in the status until the actor runs.
func TestAStartThatFailsIsTriedAgainLaterAndLater(t *testing.T) {
	t.Parallel()
	r := newCaseRig(t, "alpha", "beta")
	r.failStart = func(home.StartRequest, home.NodeID) string { return "no database" }
	r.place(caseSpec("a", Constraints{}))
	begun := r.now
	var tries []time.Duration
	nodes := map[string]int{}
	for failures := 1; failures < 8; failures++ {
		st := r.status("a")
		require.Equal(t, Unplaced, st.State)
		require.Equal(t, failures, st.Attempts)
		require.Equal(t, "no database", st.LastError)
		tries = append(tries, st.NextAttempt.Sub(begun)/time.Second)
		r.pass(st.NextAttempt.Sub(r.now))
		on, _ := r.startOf("a")
		nodes[on.Name]++
	}
	require.Equal(t, []time.Duration{1, 3, 7, 15, 31, 61, 91}, tries)
	require.Len(t, nodes, 2, "both were tried")

	r.failStart = nil
	r.pass(time.Minute)
	st := r.status("a")
	require.Equal(t, Running, st.State)
	require.Zero(t, st.Attempts)
	require.Empty(t, st.LastError)
	require.Zero(t, st.NextAttempt)
	r.quiet()
}

// A spec that waits for its node, for its next start, or for an eligible node can be removed, and
// does not come back.
func TestWhatRunsNowhereCanBeRemoved(t *testing.T) {
	t.Parallel()
	r := newCaseRig(t, "alpha", "beta")
	r.place(caseSpec("waits", onlyOn("beta")).WithCrashStrategy(WaitForReturn(time.Hour)))
	r.place(caseSpec("nowhere", onlyOn("beta")))
	r.failStart = func(s home.StartRequest, _ home.NodeID) string {
		if s.Label == "fails" {
			return "no"
		}
		return ""
	}
	r.place(caseSpec("fails", Constraints{}))
	r.crash("beta")
	require.Equal(t, []string{"fails unplaced ", "nowhere unplaced ", "waits waiting for return beta"}, r.specs())
	for _, label := range []string{"waits", "nowhere", "fails"} {
		r.done(r.remove(label))
	}
	sent := len(r.sends)
	r.join(99, "beta")
	r.pass(2 * time.Hour)
	require.Empty(t, r.specs())
	require.Len(t, r.sends, sent, "nobody is asked for anything")
	require.Empty(t, r.journal)
}

// An actor that is removed while it starts is stopped when it runs, and the answer waits for that.
// A later coordinator knows this, too.
func TestWhatIsRemovedWhileItStartsIsStopped(t *testing.T) {
	t.Parallel()
	for _, replaced := range []bool{false, true} {
		r := newCaseRig(t, "alpha")
		r.holdStarts = true
		r.place(caseSpec("a", Constraints{}))
		on, start := r.startOf("a")
		r.holdStops = true
		to := r.remove("a")
		r.pending(to)
		require.Empty(t, r.specs())
		r.failedWith(r.submit(Spec{}), ErrInvalid)
		r.agents[on]["a"] = home.Reported{ID: start.ID, Label: "a", Started: true} // it runs
		if replaced {
			r.boot()
		} else {
			r.hear(on, home.FromAgent{StartAck: &home.StartAck{ID: start.ID, Label: "a"}})
			r.pending(to)
		}
		require.Equal(t, []string{"alpha"}, r.running("a"))
		require.Empty(t, r.specs())
		r.release()
		require.Empty(t, r.running("a"))
		require.Empty(t, r.journal)
		r.quiet()
		if !replaced {
			r.done(to)
		}
		require.Equal(t, "alpha", r.place(caseSpec("a", Constraints{})))
	}
}

// Requests of different coordinators have different numbers. The next coordinator continues with
// all specs, whether their actors run, start, wait or are unplaced.
func TestTheNextCoordinatorKnowsAllSpecs(t *testing.T) {
	t.Parallel()
	r := newCaseRig(t, "alpha", "beta", "gamma")
	r.place(caseSpec("runs", onlyOn("alpha")))
	r.place(caseSpec("waits", onlyOn("gamma")).WithCrashStrategy(WaitForReturn(time.Hour)))
	r.place(caseSpec("nowhere", onlyOn("gamma")))
	r.crash("gamma")
	until := r.status("waits").NextAttempt
	r.holdStarts = true
	r.place(caseSpec("starts", onlyOn("beta")))
	_, before := r.startOf("starts")
	known := []string{"nowhere unplaced ", "runs running alpha", "starts pending beta", "waits waiting for return gamma"}
	require.Equal(t, known, r.specs())

	r.pass(time.Minute)
	r.boot()
	require.Equal(t, known, r.specs())
	require.Equal(t, until, r.status("waits").NextAttempt, "it waits no longer for that")
	_, again := r.startOf("starts")
	require.Equal(t, before.ID, again.ID, "the same request, so that it is done once")
	r.place(caseSpec("new", onlyOn("beta")))
	_, fresh := r.startOf("new")
	require.Less(t, before.ID.Epoch, fresh.ID.Epoch)
	r.hear(home.IDOf(r.nodes["beta"]), home.FromAgent{StartAck: &home.StartAck{ID: home.RequestID{Epoch: before.ID.Epoch, N: fresh.ID.N}, Label: "new"}})
	require.Contains(t, r.specs(), "new pending beta", "an answer to the former one is none to this")
	r.release()
	r.join(99, "gamma")
	require.Equal(t, []string{
		"new running beta", "nowhere running gamma", "runs running alpha", "starts running beta", "waits running gamma",
	}, r.specs())
	for _, s := range r.m.Statuses() {
		require.Equal(t, []string{s.Node}, r.running(s.Spec.Label))
	}
	r.quiet()
}
