package placement

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
)

// A factory that fails leads to one answer, and the request leaves nothing behind. The request has
// all that the factory needs.
func TestAFactoryThatFailsIsOneAnswer(t *testing.T) {
	t.Parallel()
	r := newCaseRig(t, "alpha")
	r.failStart = func(home.StartRequest, home.NodeID) string { return "panic: no tools" }
	s := caseSpec("a", Constraints{})
	s.State = []byte{1, 2, 3}
	r.place(s)
	_, start := r.startOf("a")
	require.Equal(t, home.StartRequest{ID: start.ID, Label: "a", Type: "kept", State: []byte{1, 2, 3}, Epoch: r.epoch}, start)
	require.Equal(t, []string{"a unplaced "}, r.specs())
	require.Equal(t, "panic: no tools", r.status("a").LastError)
	r.quiet()
}

// A request that is lost is sent again, under the same number. So it is when the answer is lost;
// and the actor is started once.
func TestWhatIsNotAnsweredIsAskedAgain(t *testing.T) {
	t.Parallel()
	r := newCaseRig(t, "alpha")
	r.holdStarts = true // they are lost
	r.place(caseSpec("a", Constraints{}))
	on, first := r.startOf("a")
	for range 5 {
		sent := len(r.sends)
		r.pass(rigConfig.AckTimeout)
		require.Len(t, r.sends, sent+1)
		_, again := r.startOf("a")
		require.Equal(t, first, again)
	}
	r.agents[on]["a"] = home.Reported{ID: first.ID, Label: "a", Started: true} // it runs, and its answer is lost
	require.Equal(t, []string{"a pending alpha"}, r.specs())
	r.held, r.holdStarts = nil, false
	r.pass(rigConfig.AckTimeout)
	require.Equal(t, []string{"a running alpha"}, r.specs())
	require.Empty(t, r.started, "it ran already")
	r.quiet()

	r.holdStops = true
	to := r.remove("a")
	sent := len(r.sends)
	r.pass(3 * rigConfig.AckTimeout)
	require.Len(t, r.sends, sent+3)
	r.held, r.holdStops = nil, false
	delete(r.agents[on], "a")
	r.pass(rigConfig.AckTimeout)
	r.done(to)
	r.quiet()
	sent = len(r.sends)
	r.pass(time.Hour)
	require.Len(t, r.sends, sent, "there is nothing left to ask")
}

// A node dies while requests to it are unanswered. The requests are dropped, and a client that
// waits for a removal is answered.
func TestWhatIsAskedOfADeadNodeIsDropped(t *testing.T) {
	t.Parallel()
	r := newCaseRig(t, "alpha", "beta")
	r.holdStarts, r.holdStops = true, true
	r.place(caseSpec("starts", onlyOn("beta")))
	r.place(caseSpec("ends", onlyOn("beta")))
	removed, drained := r.remove("ends"), r.drain("beta")
	r.pending(removed)
	r.crash("beta")
	r.done(removed)
	r.done(drained)
	require.Equal(t, []string{"starts unplaced "}, r.specs())
	r.quiet()
}

// An answer without a request, a repeated answer, or one from another node or incarnation changes
// nothing. An answer to a request that was given up changes nothing.
func TestAnswersThatNobodyWaitsForChangeNothing(t *testing.T) {
	t.Parallel()
	r := newCaseRig(t, "alpha", "beta")
	r.failStart = func(_ home.StartRequest, on home.NodeID) string {
		if on.Name == "alpha" {
			return "full"
		}
		return ""
	}
	r.place(caseSpec("a", Constraints{}))
	alpha, given := r.startOf("a")
	r.pass(time.Second)
	beta, start := r.startOf("a")
	require.Equal(t, "beta", beta.Name)
	require.Equal(t, []string{"a running beta"}, r.specs())
	other := home.NodeID{Name: "beta", Incarnation: beta.Incarnation + 1}
	for _, stale := range []struct {
		from home.NodeID
		msg  home.FromAgent
	}{
		{alpha, home.FromAgent{StartAck: &home.StartAck{ID: given.ID, Label: "a"}}},
		{alpha, home.FromAgent{StartAck: &home.StartAck{ID: given.ID, Label: "a", Error: "full"}}},
		{alpha, home.FromAgent{StartAck: &home.StartAck{ID: start.ID, Label: "a", Error: "not mine"}}},
		{beta, home.FromAgent{StartAck: &home.StartAck{ID: start.ID, Label: "a"}}},
		{beta, home.FromAgent{StartAck: &home.StartAck{ID: home.RequestID{Epoch: 77, N: 1}, Label: "a", Error: "no"}}},
		{beta, home.FromAgent{StartAck: &home.StartAck{ID: start.ID, Label: "b", Error: "no"}}},
		{beta, home.FromAgent{StopAck: &home.StopAck{ID: given.ID, Label: "a"}}},
		{beta, home.FromAgent{StopAck: &home.StopAck{ID: start.ID, Label: "nobody's"}}},
		{beta, home.FromAgent{Report: &home.Report{Epoch: r.epoch - 1}}},
		{other, home.FromAgent{StartAck: &home.StartAck{ID: start.ID, Label: "a", Error: "no"}}},
		{other, home.FromAgent{Ended: &home.Ended{ID: start.ID, Label: "a"}}},
		{home.NodeID{Name: "ghost", Incarnation: 1}, home.FromAgent{Report: &home.Report{Epoch: r.epoch}}},
	} {
		r.hear(stale.from, stale.msg)
		require.Equal(t, []string{"a running beta"}, r.specs(), "%v says %+v", stale.from, simShowAgentOf(stale.msg))
	}
	require.Equal(t, []string{"beta"}, r.running("a"))
	require.Len(t, r.m.View().Nodes, 2)
	r.quiet()
}

func simShowAgentOf(m home.FromAgent) string {
	if (m == home.FromAgent{Node: m.Node, Incarnation: m.Incarnation}) {
		return "nothing"
	}
	return simShowAgent(m)
}
