package placement

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/internal/home"
)

func TestRemoveStopsTheActorAndAnswersWhenItHasTerminated(t *testing.T) {
	r := newSpecsRig(t, "a")
	r.placed(specOf("s"))
	r.holdStops = true
	first := r.remove("s")
	r.pending(first)
	require.Empty(t, r.m.Statuses())
	require.True(t, r.journal["s"].Ended)
	again := r.remove("s")
	r.pending(again)
	r.release()
	r.done(first)
	r.done(again)
	r.absent("s")
}

func TestALabelCanBeUsedAgainWhenItsActorHasTerminated(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	r.placed(specOf("s"))
	r.holdStops = true
	removed := r.remove("s")
	next := r.submit(with("s", Constraints{RequiredNode: "b"}))
	r.pass(time.Hour)
	r.pending(next)
	require.Equal(t, []string{"a"}, r.running("s"))
	r.release()
	r.done(removed)
	r.done(next)
	r.runs("s", "b")
}

func TestRemoveAnswersWhenTheNodeIsLost(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	r.placed(with("s", Constraints{RequiredNode: "b"}))
	r.holdStops = true
	removed := r.remove("s")
	r.gone = []home.Gone{{Name: "b", Incarnation: r.nodes["b"].Incarnation, Until: r.now.Add(time.Minute)}}
	r.crash("b")
	r.passing(time.Minute, func() { r.pending(removed) }, func() { r.done(removed) })
	r.absent("s")
}

func TestAnotherCoordinatorGoesOnWithARemoval(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	r.placed(with("s", Constraints{RequiredNode: "b"}))
	r.holdStops = true
	r.remove("s")
	r.boot()
	require.Empty(t, r.m.Statuses())
	again := r.remove("s")
	next := r.submit(specOf("s"))
	r.pending(again)
	r.pending(next)
	r.release()
	r.done(again)
	r.done(next)
	r.runs("s", "a")
}

func TestWhatStartsAfterItWasRemovedIsStopped(t *testing.T) {
	r := newSpecsRig(t, "a")
	r.holdStarts = true
	r.placed(specOf("s"))
	on, start := r.heldStart("s")
	r.holdStops = true
	removed := r.remove("s")
	r.ackStart(on, start)
	require.Equal(t, []string{"a"}, r.running("s"))
	require.Empty(t, r.m.Statuses())
	r.pending(removed)
	r.held = r.held[1:]
	r.release()
	r.done(removed)
	r.absent("s")
}
