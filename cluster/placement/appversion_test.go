package placement

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
)

// versioned is ready for a node with a version of the application.
func versioned(name, version string, runs ...string) home.Node {
	n := ready(name, runs...)
	n.AppVersion = version
	return n
}

func TestTheNewestVersionOfTheApplicationIsPreferred(t *testing.T) {
	old, older := versioned("a", "1.9.0"), versioned("b", "v1.2.0")
	busy := versioned("c", "1.10.0", "x", "y", "z")
	require.Equal(t, "c", nodeOf(t, specOf("s"), viewOf(old, older, busy), LeastLoaded()), "although it runs more")
	require.Equal(t, "a", nodeOf(t, specOf("s"), viewOf(old, older), LeastLoaded()))
	require.Equal(t, "a", nodeOf(t, specOf("s"), viewOf(old, busy), LeastLoaded(), "c"), "a node that failed is avoided")
	require.Equal(t, "a", nodeOf(t, with("s", Constraints{RequiredNode: "a"}), viewOf(old, busy), LeastLoaded()), "a constraint is one")
	require.Equal(t, "a", nodeOf(t, specOf("s"), viewOf(old, busy), Pinned("a")), "so is a pin")
	require.Equal(t, "c", nodeOf(t, specOf("s"), viewOf(old, busy), StrategyFunc(func(n home.Node, _ Spec, _ home.View) float64 {
		return 1 / float64(len(n.Actors)+1)
	})))
}

func TestVersionsThatCannotBeComparedArePreferredEqually(t *testing.T) {
	for _, other := range []string{"", "blue", "2026-11-25"} {
		idle, busy := versioned("b", other), versioned("a", "1.0.0", "x")
		require.Equal(t, "b", nodeOf(t, specOf("s"), viewOf(busy, idle), LeastLoaded()), other)
	}
}

// The choice does not depend on the order in which nodes are considered, although a version that
// cannot be compared is neither older nor newer than others.
func TestANodeIsNeverChosenBesideANewerOne(t *testing.T) {
	scores := map[string]float64{"1.0.0": 0.9, "blue": 0.5, "2.0.0": 0.1}
	by := StrategyFunc(func(n home.Node, _ Spec, _ home.View) float64 { return scores[n.AppVersion] })
	for _, versions := range [][]string{{"1.0.0", "blue", "2.0.0"}, {"2.0.0", "blue", "1.0.0"}, {"blue", "2.0.0", "1.0.0"}} {
		v := viewOf(versioned("a", versions[0]), versioned("b", versions[1]), versioned("c", versions[2]))
		chosen, _ := v.Node(nodeOf(t, specOf("s"), v, by))
		require.Equal(t, "blue", chosen.AppVersion, versions)
	}
}

// upgrade gives a node another version of the application.
func upgrade(r specsRig, name, version string) {
	r.change(name, func(n *home.Node) { n.AppVersion = version })
}

func TestNothingMovesWhileTwoVersionsAreUpUntilANodeLeaves(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	upgrade(r, "a", "1.0.0")
	upgrade(r, "b", "1.0.0")
	for _, label := range []string{"1", "2", "3", "4"} {
		r.placed(specOf(label))
	}
	before := r.m.Statuses()
	sent := len(r.sends)
	r.add(70, "c")
	upgrade(r, "c", "1.1.0")
	require.Equal(t, before, r.m.Statuses(), "the newer node is empty, and gets nothing of the others")
	for _, e := range r.sends[sent:] {
		require.NotContains(t, []string{"a", "b"}, e.Node, "nothing is asked of the older nodes: %v", e)
	}
	require.Equal(t, "c", r.placed(specOf("5")))
	require.Equal(t, "c", r.placed(specOf("6")))
	r.done(r.drain("a"))
	for _, s := range r.m.Statuses() {
		require.NotEqual(t, "a", s.Node)
	}
	for _, label := range []string{"1", "3"} { // which were on a
		r.runs(label, "c")
	}
	for _, label := range []string{"2", "4"} {
		r.runs(label, "b")
	}
}

func TestASingletonOfARoleStartsOnTheNewestVersionAndStays(t *testing.T) {
	r := newSingletonsRig(t, "a:x", "b:x")
	r.change("a", func(n *home.Node) { n.AppVersion = "1.0.0" })
	r.change("b", func(n *home.Node) { n.AppVersion = "1.1.0" })
	r.answered(r.start("s", Role("x")))
	require.Equal(t, []string{"b"}, r.running("s"), "not on the oldest")
	r.change("a", func(n *home.Node) { n.AppVersion = "1.2.0" })
	require.Equal(t, []string{"b"}, r.running("s"), "it stays")
	r.crash("b")
	require.Equal(t, []string{"a"}, r.running("s"))
}
