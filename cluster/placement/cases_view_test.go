package placement

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
)

// A node that joins is alive. An unreachable node is not alive, but is still listed. It is alive
// when it is reachable again. A node that is gone is no longer listed.
func TestTheViewCountsWhoIsThereAndWhoIsAlive(t *testing.T) {
	t.Parallel()
	r := newCaseRig(t, "alpha")
	counts := func(alive, total int) {
		t.Helper()
		require.Len(t, r.m.View().Alive(), alive)
		require.Len(t, r.m.View().Nodes, total)
	}
	counts(1, 1)
	n, ok := r.m.View().Node("alpha")
	require.True(t, ok)
	require.True(t, n.Alive())
	r.join(99, "beta")
	counts(2, 2)
	r.change("beta", func(n *home.Node) { n.Reachable = false })
	counts(1, 2)
	r.change("beta", func(n *home.Node) { n.Reachable = true })
	counts(2, 2)
	r.crash("beta")
	counts(1, 1)
	_, ok = r.m.View().Node("beta")
	require.False(t, ok)
}

// A running actor is found, a removed one is not, and an unknown label never is. An actor on a node
// that is gone is not found. A repeated answer changes nothing.
func TestTheViewFindsWhatRuns(t *testing.T) {
	t.Parallel()
	r := newCaseRig(t, "alpha", "beta")
	r.place(caseSpec("a", onlyOn("beta")))
	r.place(caseSpec("b", onlyOn("beta")))
	on, start := r.startOf("a")
	for range 3 {
		r.ackStart(on, start)
	}
	n, ok := r.m.View().Find("a")
	require.True(t, ok)
	require.Equal(t, "beta", n.Name)
	require.Equal(t, []string{"a", "b"}, n.Actors)
	_, ok = r.m.View().Find("c")
	require.False(t, ok)

	r.done(r.remove("a"))
	_, ok = r.m.View().Find("a")
	require.False(t, ok)
	r.failedWith(r.remove("a"), ErrNotFound)
	n, _ = r.m.View().Node("beta")
	require.Equal(t, []string{"b"}, n.Actors)

	r.crash("beta")
	_, ok = r.m.View().Find("b")
	require.False(t, ok)
}

// An actor that has moved is listed on its new node only. While it is being stopped, it is still
// listed on the old node.
func TestTheViewListsALabelOnce(t *testing.T) {
	t.Parallel()
	r := newCaseRig(t, "alpha", "beta")
	r.place(caseSpec("a", Constraints{}))
	r.holdStops = true
	r.drain("alpha")
	lists := func(name string) []string {
		n, _ := r.m.View().Node(name)
		return n.Actors
	}
	require.Equal(t, []string{"a"}, lists("alpha"))
	require.Empty(t, lists("beta"))
	r.release()
	require.Empty(t, lists("alpha"))
	require.Equal(t, []string{"a"}, lists("beta"))
}

// A node that joins again, under the same name, runs nothing until something is started on it; list
// and index agree.
func TestANodeThatJoinsAgainHasNothingOfItsFormerSelf(t *testing.T) {
	t.Parallel()
	r := newCaseRig(t, "alpha", "beta")
	r.place(caseSpec("a", onlyOn("beta")))
	delete(r.agents, home.IDOf(r.nodes["beta"]))
	r.holdStarts = true
	r.join(2, "beta")
	n, ok := r.m.View().Node("beta")
	require.True(t, ok)
	require.Equal(t, r.nodes["beta"].Incarnation, n.Incarnation)
	found, ok := r.m.View().Find("a")
	require.True(t, ok, "it is on its way there")
	require.Equal(t, n, found)
	require.Equal(t, []string{"a pending beta"}, r.specs())
	on, _ := r.startOf("a")
	require.Equal(t, home.IDOf(n), on)
	r.release()
	require.Equal(t, []string{"beta"}, r.running("a"))
}

// A view does not change after it was returned.
func TestAViewDoesNotChangeOnceItWasTaken(t *testing.T) {
	t.Parallel()
	r := newCaseRig(t, "alpha")
	r.place(caseSpec("b", Constraints{}))
	before := r.m.View()
	n, _ := before.Node("alpha")
	r.place(caseSpec("a", Constraints{}))
	r.done(r.remove("b"))
	r.join(99, "beta")
	require.Equal(t, []string{"b"}, n.Actors)
	require.Len(t, before.Nodes, 1)
	now, _ := r.m.View().Node("alpha")
	require.Equal(t, []string{"a"}, now.Actors)
}

// A repeated view changes nothing, and views may arrive in a different order than the events. Each
// view has the whole state.
func TestTheSameViewAgainChangesNothing(t *testing.T) {
	t.Parallel()
	r := newCaseRig(t, "alpha", "beta")
	r.place(caseSpec("a", onlyOn("beta")))
	old := home.ViewChanged{Nodes: []home.Node{r.nodes["alpha"], r.nodes["beta"]}}
	for range 3 {
		facts, effects := r.m.Step(old, r.now)
		require.Empty(t, facts)
		require.Empty(t, effects)
	}
	r.crash("beta")
	require.Equal(t, []string{"a unplaced "}, r.specs())
	r.step(old) // it comes late
	r.look()
	r.pass(time.Minute)
	require.Equal(t, []string{"a unplaced "}, r.specs())
	require.Len(t, r.m.View().Nodes, 1)
}
