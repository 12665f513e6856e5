package placement

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
)

// awaited returns what is waited for of s.
func (r specsRig) awaited() string {
	r.t.Helper()
	e, err := r.m.Explain("s")
	require.NoError(r.t, err)
	return e.Awaited
}

// A factory that does not return, a request that was lost, a node that does not answer: all
// look the same from afar, and last.
func TestExplainSaysSinceWhenANodeIsAwaited(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	r.holdStarts = true
	r.pass(3 * time.Second)
	r.placed(with("s", onlyOn("a")))
	for range 3 {
		require.Equal(t, "spawning on a since 2026-11-22T00:00:03Z", r.awaited())
		r.pass(time.Minute)
	}
	r.change("a", func(n *home.Node) { n.Reachable = false })
	require.Equal(t, "spawning on a since 2026-11-22T00:00:03Z, which is unreachable", r.awaited())
	r.change("a", func(n *home.Node) { n.Reachable = true })
	r.release()
	r.runs("s", "a")
	require.Empty(t, r.awaited())

	r.holdStops = true
	to := r.remove("s")
	r.pass(time.Minute)
	r.pending(to)
	_, err := r.m.Explain("s")
	require.ErrorIs(t, err, ErrNotFound)
	require.ErrorContains(t, err, `"s" is being removed: stopping on a since 2026-11-22T00:03:03Z`)
	r.release()
	r.done(to)
	_, err = r.m.Explain("s")
	require.EqualError(t, err, ErrNotFound.Error()+`: "s"`)
}

// The next coordinator knows from when on it has waited itself.
func TestExplainSaysWhatANodeHasNotTold(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	r.placed(with("s", onlyOn("a")))
	silent := home.IDOf(r.nodes["a"])
	runs := r.agents[silent]
	delete(r.agents, silent)
	r.pass(time.Hour)
	r.boot()
	r.pass(time.Minute)
	require.Equal(t, "spawning on a since 2026-11-22T01:00:00Z, which has not reported what it runs", r.awaited())
	r.agents[silent] = runs
	r.pass(2 * time.Minute)
	require.Empty(t, r.awaited())
	r.gone = []home.Gone{{Name: "a", Incarnation: silent.Incarnation, Until: r.now.Add(time.Minute)}}
	r.holdStops = true
	to := r.remove("s")
	r.crash("a")
	r.pass(time.Second)
	_, err := r.m.Explain("s")
	require.ErrorContains(t, err, "which is no longer a member and may still run it")
	r.pending(to)
	r.pass(time.Minute)
	r.done(to)
}
