package placement

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
)

func TestADrainMovesWhatRunsOnTheNodeBeforeItAnswers(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	r.placed(specOf("m"))
	r.placed(with("f", Constraints{ColocateWith: "m"}))
	r.onA(specOf("abandoned").WithCrashStrategy(Abandon()))
	r.onA(specOf("waits").WithCrashStrategy(WaitForReturn(time.Minute)))
	r.meta("b", map[string]string{"first": "yes"})
	r.holdStops = true
	drained := r.drain("a")
	r.pending(drained)
	n, _ := r.m.View().Node("a")
	require.True(t, n.Draining)
	require.Equal(t, "b", r.placed(specOf("new")))
	r.release()
	r.done(drained)
	for _, label := range []string{"m", "f", "abandoned", "waits"} {
		r.runs(label, "b")
	}
	r.crash("a")
	require.Len(t, r.m.Statuses(), 5)
}

func TestWhatHasNoOtherNodeStaysUntilADrainedNodeLeaves(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	r.placed(with("required", Constraints{RequiredNode: "a"}))
	r.onA(specOf("abandoned").WithCrashStrategy(Abandon()))
	r.onA(specOf("waits").WithCrashStrategy(WaitForReturn(time.Minute)))
	r.done(r.drain("a"))
	for _, label := range []string{"required", "abandoned", "waits"} {
		r.runs(label, "a")
	}
	r.join(70, "c")
	r.meta("c", map[string]string{"first": "yes"}) // another node, after all
	r.runs("abandoned", "c")
	r.runs("waits", "c")
	r.crash("a")
	r.inState("required", Unplaced)
}

func TestANodeThatWasDrainedIsNotWaitedFor(t *testing.T) {
	for _, another := range []bool{false, true} {
		r := newSpecsRig(t, "a", "b")
		r.onA(specOf("abandoned").WithCrashStrategy(Abandon()))
		r.onA(specOf("waits").WithCrashStrategy(WaitForReturn(time.Minute)))
		r.done(r.drain("a"))
		r.vanish("a")
		if another {
			r.boot() // a coordinator that has not seen the drain
		} else {
			r.look()
		}
		r.inState("waits", Unplaced)
		r.absent("abandoned")
	}
}

func TestANodeThatLeavesInGoodOrderIsNotWaitedFor(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	require.Equal(t, "a", r.placed(specOf("s").WithCrashStrategy(WaitForReturn(time.Minute))))
	r.holdStops = true
	r.change("a", func(n *home.Node) { n.Up = false }) // leaving
	r.crash("a")
	r.runs("s", "b")
}

func TestDrainsOfNodesThatAreNotThereAreOver(t *testing.T) {
	r := newSpecsRig(t, "a")
	r.done(r.ask(func(t home.Token) home.Input {
		return home.Drain{Token: t, Node: home.NodeID{Name: "ghost", Incarnation: 1}}
	}))
	r.nodes["b"] = home.Node{Name: "b", Incarnation: 1}
	r.done(r.drain("b"))
	delete(r.nodes, "b")
	require.Len(t, r.m.View().Nodes, 1)
	for _, name := range []string{"ghost", "b"} {
		_, known := r.m.nodes.Node(home.NodeID{Name: name, Incarnation: 1})
		require.False(t, known)
	}
}

func TestADrainAnswersWhenTheNodeIsGoneBeforeItsEnd(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	r.placed(specOf("s"))
	r.holdStops = true
	first, again := r.drain("a"), r.drain("a")
	r.pending(first)
	r.crash("a")
	r.done(first)
	r.done(again)
	r.runs("s", "b")
}
