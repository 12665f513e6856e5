package placement

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
)

// scoring is a strategy with a fixed score for each node.
func scoring(scores map[string]float64) Strategy {
	return StrategyFunc(func(n home.Node, _ Spec, _ home.View) float64 { return scores[n.Name] })
}

// The node with fewer actors is chosen. It is not chosen if it is dead, unreachable, leaving, or
// without placement.
func TestTheLeastLoadedNodeThatLivesIsTaken(t *testing.T) {
	t.Parallel()
	for name, dies := range map[string]func(r caseRig){
		"it lives":            nil,
		"it crashes":          func(r caseRig) { r.crash("beta") },
		"it is not heard of":  func(r caseRig) { r.change("beta", func(n *home.Node) { n.Reachable = false }) },
		"it leaves":           func(r caseRig) { r.change("beta", func(n *home.Node) { n.Up = false }) },
		"it is being drained": func(r caseRig) { r.drain("beta") },
		"it has not joined yet": func(r caseRig) {
			r.change("beta", func(n *home.Node) { n.UpNumber, n.Up, n.Incarnation = 0, false, 999 })
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newCaseRig(t, "alpha", "beta")
			r.place(caseSpec("a", onlyOn("alpha")))
			r.place(caseSpec("b", onlyOn("alpha")))
			if dies == nil {
				require.Equal(t, "beta", r.place(caseSpec("c", Constraints{})))
				return
			}
			dies(r)
			require.Equal(t, "alpha", r.place(caseSpec("c", Constraints{})))
		})
	}
}

// Of equal nodes the first by name is taken, in whichever order they have come.
func TestTheOrderInWhichNodesComeDoesNotMatter(t *testing.T) {
	t.Parallel()
	r := newCaseRig(t, "b", "c", "a")
	rng := rand.New(rand.NewPCG(23, 0)) //nolint:gosec // an order, not a secret
	for range 100 {
		v := home.ViewChanged{Nodes: []home.Node{r.nodes["a"], r.nodes["b"], r.nodes["c"]}}
		rng.Shuffle(3, func(i, j int) { v.Nodes[i], v.Nodes[j] = v.Nodes[j], v.Nodes[i] })
		r.step(v)
		require.Equal(t, "a", r.place(caseSpec("s", Constraints{})))
		r.done(r.remove("s"))
	}
}

// The preferred node is taken, however full it is. Another node is chosen while the preferred one
// is not eligible. Actors that then run elsewhere stay there.
func TestAPinIsSoft(t *testing.T) {
	t.Parallel()
	r := newCaseRig(t, "alpha", "beta", "gamma").by(Pinned("beta"))
	for _, label := range []string{"a", "b", "c"} {
		require.Equal(t, "beta", r.place(caseSpec(label, Constraints{})))
	}
	require.Equal(t, "gamma", r.place(caseSpec("d", onlyOn("gamma"))), "constraints come first")
	r.crash("beta")
	require.Equal(t, "alpha", r.place(caseSpec("e", Constraints{})))
	r.join(99, "beta")
	require.Equal(t, "beta", r.place(caseSpec("f", Constraints{})))
	require.Equal(t, []string{
		"a running alpha", "b running alpha", "c running alpha", "d running gamma", "e running alpha", "f running beta",
	}, r.specs())
}

// Without a node nothing can be placed, and one node is enough.
func TestWithoutANodeNothingIsPlaced(t *testing.T) {
	for _, by := range []Strategy{LeastLoaded(), Pinned("alpha"), Random(1)} {
		_, err := choose(caseSpec("s", Constraints{}), home.View{}, nil, by)
		require.Empty(t, caseRemoved(t, err), by.Name())
		d, err := choose(caseSpec("s", Constraints{}), home.View{Nodes: []home.Node{caseNode("beta")}}, nil, by)
		require.NoError(t, err)
		require.Equal(t, "beta", d.Node)
		require.Equal(t, by.Name(), d.Strategy)
	}
}

// Chance never excludes a node.
func TestRandomPlacementExcludesNobody(t *testing.T) {
	random, n := Random(30), caseNode("a")
	for range 10_000 {
		score := random.Score(n, Spec{}, home.View{})
		require.Greater(t, score, 0.0)
		require.LessOrEqual(t, score, 1.0)
	}
}

// NaN never wins. Zero and less exclude a node, and the highest of the others wins.
func TestScoresThatExcludeANode(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		a, b, c float64
		want    string
	}{
		{a: nan, b: 1, c: 2, want: "c"},
		{a: 1, b: nan, c: 0.5, want: "a"},
		{a: 1, b: 2, c: nan, want: "b"},
		{a: nan, b: nan, c: 1e-300, want: "c"},
		{a: 0, b: -1, c: 0.1, want: "c"},
		{a: -inf, b: 1, c: 1, want: "b"},
		{a: 1, b: inf, c: 1000, want: "b"},
		{a: math.Copysign(0, -1), b: 0, c: -inf},
		{a: nan, b: nan, c: nan},
	} {
		by := scoring(map[string]float64{"a": c.a, "b": c.b, "c": c.c})
		v := home.View{Nodes: []home.Node{caseNode("a"), caseNode("b"), caseNode("c")}}
		d, err := choose(caseSpec("s", Constraints{}), v, nil, by)
		if c.want == "" {
			require.Equal(t, map[string]int{filterStrategy: 3}, caseRemoved(t, err))
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.want, d.Node, "%+v", c)
		all, err := consider(caseSpec("s", Constraints{}), v, nil, by)
		require.NoError(t, err)
		for _, candidate := range all {
			require.False(t, math.IsNaN(candidate.Score), "it is sent to who asks for an explanation")
		}
	}
}

// Actors on their way to a node count as its load.
func TestABurstIsSpreadBeforeAnybodyHasAnswered(t *testing.T) {
	t.Parallel()
	r := newCaseRig(t, "alpha", "beta")
	r.holdStarts = true
	times := map[string]int{}
	for i := range 6 {
		times[r.place(caseSpec(fmt.Sprint(i), Constraints{}))]++
	}
	require.Equal(t, map[string]int{"alpha": 3, "beta": 3}, times)
	require.Equal(t, []string{
		"0 pending alpha", "1 pending beta", "2 pending alpha", "3 pending beta", "4 pending alpha", "5 pending beta",
	}, r.specs())
	require.Equal(t, map[string]int{filterAffinity: 2}, r.removedBy(caseSpec("x", apart("0", "1"))), "constraints hold for it, too")
	require.Equal(t, "beta", r.place(caseSpec("y", beside("1"))))
	r.release()
	require.Contains(t, r.specs(), "y running beta")
}

// A strategy that panics fails the submission, and nothing is stored. A spec that is being placed
// again is tried until the strategy works.
func TestAStrategyThatPanicsHarmsNothingElse(t *testing.T) {
	t.Parallel()
	broken := false
	r := newCaseRig(t, "alpha", "beta").by(StrategyFunc(func(home.Node, Spec, home.View) float64 {
		if broken {
			panic("no idea")
		}
		return 1
	}))
	require.Equal(t, "alpha", r.place(caseSpec("good", Constraints{})))
	broken = true
	to := r.submit(caseSpec("bad", Constraints{}))
	r.failedWith(to, ErrStrategy)
	require.ErrorContains(t, r.answers[to].Err, "func: panic: no idea")
	require.Equal(t, []string{"good running alpha"}, r.specs())

	r.crash("alpha")
	require.Equal(t, []string{"good unplaced "}, r.specs())
	st := r.status("good")
	require.Contains(t, st.LastError, "no idea")
	require.Equal(t, r.now.Add(time.Second), st.NextAttempt)
	broken = false
	r.pass(time.Second)
	require.Equal(t, []string{"good running beta"}, r.specs())
}
