package placement

import (
	"fmt"
	"testing"
	"time"

	"github.com/understudy-go/understudy/internal/effort"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/codec"
)

func (r specsRig) overview() overview {
	r.t.Helper()
	return r.m.Overview("a", r.now, 1<<20)
}

func (r specsRig) shown(label string) shownActor {
	r.t.Helper()
	for _, a := range r.overview().Actors {
		if a.Label == label {
			return a
		}
	}
	require.Fail(r.t, "not shown: "+label)
	return shownActor{}
}

func TestAnOverviewSaysWhyAnActorDoesNotRun(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	r.placed(with("well", onlyOn("a")))
	r.placed(with("lost", onlyOn("b")))
	r.placed(with("awaited", onlyOn("b")).WithCrashStrategy(WaitForReturn(time.Hour)))
	r.crash("b")
	r.pass(time.Minute)
	o := r.overview()
	require.Equal(t, "a", o.Coordinator)
	require.Equal(t, map[string]int{"running": 1, "pending": 0, "unplaced": 1, "waiting for return": 1}, o.States)
	require.Equal(t, uint64(2), o.Moves["node lost"])
	require.Equal(t, []shownNode{{Name: "a", Ready: true, Alive: true, Actors: 1}}, o.Nodes)
	require.Equal(t, []string{"awaited", "lost", "well"}, labelsOf(o), "those in trouble come first")
	require.Equal(t, "it waits for the return of b", r.shown("awaited").Why)
	require.NotNil(t, r.shown("awaited").Next)
	lost := r.shown("lost")
	require.True(t, lost.Trouble)
	require.Equal(t, `no eligible nodes for "lost" among 1: removed by RequiredNode 1`, lost.Why)
	well := r.shown("well")
	require.True(t, well.Running)
	require.False(t, well.Trouble)
	require.Empty(t, well.Why)
	require.NotNil(t, well.Since)
}

func labelsOf(o overview) (labels []string) {
	for _, a := range o.Actors {
		labels = append(labels, a.Label)
	}
	return labels
}

func TestAnOverviewSaysWhatCannotMoveAndWhatTakesLong(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	r.placed(with("bound", onlyOn("b")))
	r.holdStarts = true
	r.placed(with("slow", onlyOn("a")))
	r.drain("b")
	r.pass(patience / 2)
	require.False(t, r.shown("slow").Trouble)
	r.pass(patience)
	slow := r.shown("slow")
	require.Equal(t, "pending", slow.State)
	require.True(t, slow.Trouble)
	require.Contains(t, slow.Why, "spawning on a since ")
	bound := r.shown("bound")
	require.True(t, bound.Running)
	require.True(t, bound.Trouble, "its node is drained")
	require.Contains(t, bound.Why, "no eligible nodes")
	r.release()
}

func TestAnOverviewOfManyActorsHasThoseInTroubleAndFitsIntoAMessage(t *testing.T) {
	effort.Unraced(t)
	r := newSpecsRig(t, "a")
	for n := range mostShown + 200 {
		r.placed(specOf(fmt.Sprintf("s%04d", n)))
	}
	r.holdStops = true
	r.remove("s0100")
	o := r.overview()
	require.Empty(t, o.Actors, "all run")
	require.Equal(t, mostShown+199, o.LeftOut)
	r.crash("a")
	r.pass(time.Hour)
	o = r.overview()
	require.Len(t, o.Actors, mostShown)
	require.Equal(t, 199, o.LeftOut)
	require.NotEmpty(t, o.Actors[mostExplained-1].Why)
	require.Empty(t, o.Actors[mostExplained].Why)
	require.Less(t, len(r.m.Overview("a", r.now, 10_000).Actors), 200)
	data, err := codec.Marshal(o)
	require.NoError(t, err)
	var read overview
	require.NoError(t, codec.Unmarshal(data, &read))
	require.Equal(t, o, read)
}

func TestAnOverviewHasTheSingletonsOfPlacement(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	r.start("one", Leader())
	r.start("two", OnNode("b"))
	require.Equal(t, 2, r.overview().States["active"])
	one := r.shown("one")
	require.True(t, one.Singleton && one.Running && !one.Trouble)
	require.Equal(t, "a", one.Node)
	r.crash("b")
	r.pass(time.Minute)
	require.Equal(t, 1, r.overview().States["active"])
	two := r.shown("two")
	require.True(t, two.Trouble)
	require.False(t, two.Running)
	require.Equal(t, `no eligible nodes for "two" among 1: removed by RequiredNode 1`, two.Why)
}
