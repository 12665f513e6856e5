package placement

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
)

// newPairRig returns a rig with the nodes a and b. The anchor m is being started on a, and its
// follower f waits for that.
func newPairRig(t *testing.T, follower CrashStrategy) specsRig {
	r := newSpecsRig(t, "a", "b")
	r.holdStarts = true
	require.Equal(t, "a", r.placed(specOf("m")))
	require.Equal(t, "a", r.placed(with("f", Constraints{ColocateWith: "m"}).WithCrashStrategy(follower)))
	r.inState("f", Pending)
	require.Contains(t, r.m.nodes.Awaited("f"), `, once "m" runs there`)
	require.Len(t, r.held, 1, "only the anchor is requested")
	return r
}

func TestAFollowerStartsWhenItsAnchorRuns(t *testing.T) {
	r := newPairRig(t, Redistribute())
	r.pass(time.Minute)
	r.inState("f", Pending)
	r.release()
	r.runs("m", "a")
	r.runs("f", "a")
}

// The anchor is removed, ends, does not start, or goes elsewhere.
func TestAFollowerThatWaitsForItsAnchorIsPlacedAnewWhenThatDoesNotStart(t *testing.T) {
	for name, row := range map[string]struct {
		happens func(r specsRig)
		becomes State
		on      string // in the end
	}{
		"removed": {func(r specsRig) { r.remove("m"); r.release() }, Unplaced, ""},
		"failed": {func(r specsRig) {
			on, start := r.heldStart("m")
			r.hear(on, home.FromAgent{StartAck: &home.StartAck{ID: start.ID, Label: "m", Error: "out of memory"}})
			r.held = nil
		}, Unplaced, "b"},
		"crashed":  {func(r specsRig) { r.crash("a") }, Pending, "b"},
		"drained":  {func(r specsRig) { r.done(r.drain("a")); r.held = r.held[1:] }, Pending, "b"},
		"replaced": {func(r specsRig) { r.boot() }, Pending, "a"}, // the coordinator is
	} {
		t.Run(name, func(t *testing.T) {
			r := newPairRig(t, Redistribute())
			row.happens(r)
			r.inState("f", row.becomes)
			r.release()
			r.pass(time.Minute)
			if row.on == "" {
				r.inState("f", Unplaced)
				r.placed(specOf("m"))
				row.on = r.status("m").Node
			}
			r.runs("m", row.on)
			r.runs("f", row.on)
		})
	}
}

// A request that is lost is not repeated after the anchor has ended. An actor that was known to run
// goes on without its anchor.
func TestAFollowerThatIsNotKnownToRunIsTakenBackWhenItsAnchorEnds(t *testing.T) {
	for _, known := range []bool{false, true} {
		r := newSpecsRig(t, "a", "b")
		r.placed(specOf("m"))
		r.holdStarts = !known
		r.placed(with("f", Constraints{ColocateWith: "m"}))
		r.held = nil
		r.done(r.remove("m"))
		if known {
			r.hear(home.IDOf(r.nodes["a"]), home.FromAgent{Report: &home.Report{Epoch: r.epoch}}) // an old one
			r.runs("f", "a")
			continue
		}
		r.inState("f", Unplaced)
		r.holdStarts = false
		r.placed(specOf("m"))
		r.runs("f", r.status("m").Node)
	}
}

// It returns with its anchor, one after the other; and when the wait is over, it follows.
func TestAFollowerThatIsGivenBackStartsAfterItsAnchor(t *testing.T) {
	for _, returns := range []bool{true, false} {
		r := newSpecsRig(t, "a", "b")
		wait := WaitForReturn(time.Minute)
		r.placed(specOf("m").WithCrashStrategy(wait))
		r.placed(with("f", Constraints{ColocateWith: "m"}).WithCrashStrategy(wait))
		r.crash("a")
		r.holdStarts = true
		if returns {
			r.back(70, "a")
		} else {
			r.pass(time.Minute)
		}
		r.inState("m", Pending)
		r.inState("f", Pending)
		r.heldStart("m")
		r.release()
		r.runs("m", r.status("m").Node)
		r.runs("f", r.status("m").Node)
	}
}

// A follower of a singleton, too.
func TestAFollowerOfASingletonStartsWhenThatRuns(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	r.answered(r.start("catalog", Leader()))
	require.Equal(t, "a", r.placed(with("f", Constraints{ColocateWith: "catalog"})))
	r.holdStarts = true
	r.crash("a")
	r.inState("f", Pending)
	require.Len(t, r.held, 1)
	r.release()
	r.runs("f", "b")
}
