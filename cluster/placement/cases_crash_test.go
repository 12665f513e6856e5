package placement

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
)

// Abandon: the spec goes with its node, and nothing is started. Redistribute: it is placed on
// another one at once.
func TestWhatIsAbandonedGoesWithItsNodeAndWhatIsRedistributedMoves(t *testing.T) {
	t.Parallel()
	r := newCaseRig(t, "alpha", "beta").by(Pinned("beta"))
	r.place(caseSpec("goes", Constraints{}).WithCrashStrategy(Abandon()))
	r.place(caseSpec("moves", Constraints{}))
	sent := len(r.sends)
	r.crash("beta")
	require.Equal(t, []string{"moves running alpha"}, r.specs())
	require.Len(t, r.sends, sent+1)
	require.NotContains(t, r.journal, "goes")
	r.join(99, "beta")
	r.pass(time.Hour)
	require.Empty(t, r.running("goes"))
	require.Equal(t, "beta", r.place(caseSpec("goes", Constraints{})), "the label is free")
}

// WaitForReturn waits, and after its duration the actor is placed on a survivor. This happens
// exactly at the deadline.
func TestAWaitLastsAsLongAsItSays(t *testing.T) {
	t.Parallel()
	for _, wait := range []time.Duration{50 * time.Millisecond, 30 * time.Second} {
		r := newCaseRig(t, "alpha", "beta").by(Pinned("beta"))
		r.place(caseSpec("a", Constraints{}).WithCrashStrategy(WaitForReturn(wait)))
		r.crash("beta")
		require.Equal(t, []string{"a waiting for return beta"}, r.specs())
		require.Equal(t, r.now.Add(wait), r.status("a").NextAttempt)
		r.pass(wait - time.Millisecond)
		require.Equal(t, []string{"a waiting for return beta"}, r.specs())
		require.Empty(t, r.running("a"))
		r.pass(2 * time.Millisecond)
		require.Equal(t, []string{"a running alpha"}, r.specs())
	}
}

// A process of the same name has returned, whatever its incarnation and its age. The actor starts
// there at once, and the former deadline has no effect.
func TestWhoReturnsInTimeGetsItsActorsBack(t *testing.T) {
	t.Parallel()
	for name, notice := range map[string]func(r caseRig){
		"after it was missed": func(r caseRig) {
			r.crash("beta")
			r.pass(20 * time.Second)
		},
		"before anybody has noticed": func(r caseRig) { delete(r.agents, home.IDOf(r.nodes["beta"])) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newCaseRig(t, "alpha", "beta", "gamma").by(Pinned("beta"))
			r.place(caseSpec("a", Constraints{}).WithCrashStrategy(WaitForReturn(30 * time.Second)))
			r.by(Pinned("gamma")) // it is not asked again
			notice(r)
			r.join(99, "beta")
			require.Equal(t, []string{"a running beta"}, r.specs())
			r.pass(time.Hour)
			require.Equal(t, []string{"a running beta"}, r.specs())
			require.Len(t, r.started, 2)
			require.Equal(t, []string{"beta"}, r.running("a"))
		})
	}
}

// The wait ends if the node returns but is no longer eligible. It continues while the node has not
// started placement.
func TestANodeThatReturnsMustStillSuit(t *testing.T) {
	t.Parallel()
	r := newCaseRig(t, "alpha:worker", "beta:worker").by(Pinned("beta"))
	r.place(caseSpec("a", withRole("worker")).WithCrashStrategy(WaitForReturn(time.Hour)))
	r.crash("beta")
	r.add(99, "beta:worker")
	id := home.IDOf(r.nodes["beta"])
	delete(r.agents, id) // there is no placement on it yet
	r.look()
	r.pass(time.Minute)
	require.Equal(t, []string{"a waiting for return beta"}, r.specs())
	r.agents[id] = map[string]home.Reported{}
	r.hear(id, home.FromAgent{}) // now there is
	require.Equal(t, []string{"a running beta"}, r.specs())

	r.crash("beta")
	r.join(100, "beta:edge")
	require.Equal(t, []string{"a running alpha"}, r.specs())
}

// An actor without an eligible node is placed when one joins. The same holds for an actor that has
// waited in vain.
func TestWhatHasNowhereToGoIsPlacedWhenThereIsANode(t *testing.T) {
	t.Parallel()
	r := newCaseRig(t, "alpha", "beta:gpu")
	r.place(caseSpec("moves", withRole("gpu")))
	r.place(caseSpec("waits", withRole("gpu")).WithCrashStrategy(WaitForReturn(time.Minute)))
	r.crash("beta")
	require.Equal(t, []string{"moves unplaced ", "waits waiting for return beta"}, r.specs())
	r.join(99, "gamma:edge")
	require.Equal(t, []string{"moves unplaced ", "waits waiting for return beta"}, r.specs())
	r.pass(time.Minute)
	require.Equal(t, []string{"moves unplaced ", "waits unplaced "}, r.specs())
	r.join(100, "delta:gpu")
	require.Equal(t, []string{"moves running delta", "waits running delta"}, r.specs())
	require.Len(t, r.running("moves"), 1)
	require.Len(t, r.running("waits"), 1)
}

// A colocated pair is placed again together, with the actors that follow it.
func TestWhatIsColocatedIsPlacedAnewTogether(t *testing.T) {
	t.Parallel()
	r := newCaseRig(t, "alpha", "beta", "gamma")
	r.place(caseSpec("z", onlyOn("beta")))
	r.done(r.remove("z"))
	r.by(Pinned("gamma"))
	r.place(caseSpec("m", Constraints{}))
	r.place(caseSpec("a", beside("m")))
	r.place(caseSpec("z", beside("a")))
	require.Equal(t, []string{"a running gamma", "m running gamma", "z running gamma"}, r.specs())
	r.by(LeastLoaded())
	r.crash("gamma")
	at := r.status("m").Node
	require.Equal(t, []string{"a running " + at, "m running " + at, "z running " + at}, r.specs())
	r.quiet()

	r.drain(at)
	other := map[string]string{"alpha": "beta", "beta": "alpha"}[at]
	require.Equal(t, []string{"a running " + other, "m running " + other, "z running " + other}, r.specs())
}

// Three strategies on one node that crashes. Each wait has its own end; an earlier end does not
// shorten a later one.
func TestEachWaitIsItsOwn(t *testing.T) {
	t.Parallel()
	r := newCaseRig(t, "alpha", "beta").by(Pinned("beta"))
	r.place(caseSpec("goes", Constraints{}).WithCrashStrategy(Abandon()))
	r.place(caseSpec("moves", Constraints{}))
	r.place(caseSpec("waits", Constraints{}).WithCrashStrategy(WaitForReturn(30 * time.Second)))
	r.place(caseSpec("waits longer", Constraints{}).WithCrashStrategy(WaitForReturn(time.Minute)))
	r.crash("beta")
	require.Equal(t, []string{"moves running alpha", "waits waiting for return beta", "waits longer waiting for return beta"}, r.specs())
	r.pass(20 * time.Second)
	r.join(99, "beta")
	require.Equal(t, []string{"moves running alpha", "waits running beta", "waits longer running beta"}, r.specs())
	r.crash("beta")
	r.pass(29 * time.Second) // 49 s after the first crash
	require.Equal(t, []string{"moves running alpha", "waits waiting for return beta", "waits longer waiting for return beta"}, r.specs())
	r.pass(time.Second)
	require.Equal(t, []string{"moves running alpha", "waits running alpha", "waits longer waiting for return beta"}, r.specs())
	r.pass(30 * time.Second)
	require.Equal(t, []string{"moves running alpha", "waits running alpha", "waits longer running alpha"}, r.specs())
}

// A spec with RequiredNode is never placed on another node, whatever its crash strategy. Its actor
// starts when the node is back.
func TestWhatRequiresItsNodeIsNeverElsewhere(t *testing.T) {
	t.Parallel()
	r := newCaseRig(t, "alpha", "beta")
	r.place(caseSpec("moves", onlyOn("beta")))
	r.place(caseSpec("waits", onlyOn("beta")).WithCrashStrategy(WaitForReturn(time.Second)))
	r.crash("beta")
	r.join(99, "gamma")
	r.pass(time.Hour)
	require.Equal(t, []string{"moves unplaced ", "waits unplaced "}, r.specs())
	r.join(100, "beta")
	require.Equal(t, []string{"moves running beta", "waits running beta"}, r.specs())
}

// A node that leaves gracefully is drained. Actors move if they can; WaitForReturn does not wait,
// and Abandon does not remove the spec. Actors without another eligible node stay until the node
// has left.
func TestADrainIsNoCrash(t *testing.T) {
	t.Parallel()
	r := newCaseRig(t, "alpha", "beta:gpu").by(Pinned("beta"))
	r.place(caseSpec("goes", Constraints{}).WithCrashStrategy(Abandon()))
	r.place(caseSpec("gpu goes", withRole("gpu")).WithCrashStrategy(Abandon()))
	r.place(caseSpec("gpu stays", withRole("gpu")))
	r.place(caseSpec("gpu waits", withRole("gpu")).WithCrashStrategy(WaitForReturn(time.Hour)))
	r.place(caseSpec("moves", Constraints{}))
	r.place(caseSpec("waits", Constraints{}).WithCrashStrategy(WaitForReturn(time.Hour)))
	r.holdStops = true
	to := r.drain("beta")
	r.pending(to)
	require.Equal(t, map[string]int{filterDraining: 1, filterRoles: 1}, r.removedBy(caseSpec("late", withRole("gpu"))))
	r.release()
	r.done(to)
	require.Equal(t, []string{
		"goes running alpha", "gpu goes running beta", "gpu stays running beta", "gpu waits running beta",
		"moves running alpha", "waits running alpha",
	}, r.specs())
	r.crash("beta")
	require.Equal(t, []string{
		"goes running alpha", "gpu stays unplaced ", "gpu waits unplaced ", "moves running alpha", "waits running alpha",
	}, r.specs())
	r.join(99, "beta:gpu")
	require.Contains(t, r.specs(), "gpu waits running beta")
}

// A colocated pair has different crash strategies. If both wait, both return with their node. If
// the target moves, the colocated actor does not wait but follows. If the target waits, the
// colocated actor can go nowhere else, and waits as well.
func TestWhatIsColocatedFollowsItsAnchorWhateverItsCrashStrategy(t *testing.T) {
	t.Parallel()
	wait := WaitForReturn(time.Minute)
	for name, c := range map[string]struct {
		anchor, member       CrashStrategy
		gone, returned, over []string
	}{
		"both wait": {
			wait, wait,
			[]string{"a waiting for return beta", "m waiting for return beta"},
			[]string{"a running beta", "m running beta"},
			[]string{"a running alpha", "m running alpha"},
		},
		"the anchor moves": {
			Redistribute(), wait,
			[]string{"a running alpha", "m running alpha"},
			[]string{"a running alpha", "m running alpha"},
			[]string{"a running alpha", "m running alpha"},
		},
		"the anchor waits": {
			wait, Redistribute(),
			[]string{"a waiting for return beta", "m unplaced "},
			[]string{"a running beta", "m running beta"},
			[]string{"a running alpha", "m running alpha"},
		},
		"the anchor is abandoned": {
			Abandon(), Redistribute(),
			[]string{"m unplaced "},
			[]string{"m unplaced "},
			[]string{"m unplaced "},
		},
	} {
		for _, returns := range []bool{true, false} {
			r := newCaseRig(t, "alpha", "beta").by(Pinned("beta"))
			r.place(caseSpec("a", Constraints{}).WithCrashStrategy(c.anchor))
			r.place(caseSpec("m", beside("a")).WithCrashStrategy(c.member))
			r.crash("beta")
			require.Equal(t, c.gone, r.specs(), name)
			if !returns {
				r.pass(time.Minute)
				require.Equal(t, c.over, r.specs(), name)
				continue
			}
			r.pass(30 * time.Second)
			r.join(99, "beta")
			require.Equal(t, c.returned, r.specs(), name)
			r.pass(time.Hour)
			require.Equal(t, c.returned, r.specs(), name)
			r.quiet()
		}
	}
}

// When its target is removed, a colocated actor stays where it runs, and starts nowhere else
// without a target. It follows the next target of that label.
func TestWhatHasLostItsAnchorGoesOnWhereItIs(t *testing.T) {
	t.Parallel()
	r := newCaseRig(t, "alpha", "beta")
	r.place(caseSpec("a", onlyOn("beta")))
	r.place(caseSpec("m", beside("a")))
	r.done(r.remove("a"))
	require.Equal(t, []string{"m running beta"}, r.specs())
	r.drain("beta")
	require.Equal(t, []string{"m running beta"}, r.specs(), "there is nowhere to go")
	require.Equal(t, "alpha", r.place(caseSpec("a", Constraints{})))
	require.Equal(t, []string{"a running alpha", "m running alpha"}, r.specs())
	require.Equal(t, []string{"alpha"}, r.running("m"))
	r.quiet()
}
