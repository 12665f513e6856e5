package placement

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// requireCounts fails unless the numbers of specs are those of their statuses.
func (r specsRig) requireCounts() counts {
	r.t.Helper()
	want := map[State]int{Running: 0, Pending: 0, WaitingForReturn: 0, Unplaced: 0}
	for _, st := range r.m.Statuses() {
		want[st.State]++
	}
	got := r.m.Counts()
	require.Equal(r.t, want, got.Specs)
	return got
}

func TestTheCountsOfSpecsAreThoseOfTheirStatuses(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	r.requireCounts()
	r.onA(specOf("waits").WithCrashStrategy(WaitForReturn(30 * time.Second)))
	r.onA(specOf("forgotten").WithCrashStrategy(Abandon()))
	r.onA(specOf("homeless"))
	require.Equal(t, map[State]int{Running: 3, Pending: 0, WaitingForReturn: 0, Unplaced: 0}, r.requireCounts().Specs)
	r.crash("a")
	c := r.requireCounts()
	require.Equal(t, map[State]int{Running: 0, Pending: 0, WaitingForReturn: 1, Unplaced: 1}, c.Specs)
	require.Equal(t, uint64(2), c.Moves[nodeLost])
	r.pass(time.Hour)
	r.requireCounts()
	r.back(70, "a")
	require.Equal(t, 2, r.requireCounts().Specs[Unplaced])
	r.meta("a", map[string]string{"first": "yes"})
	require.Equal(t, 2, r.requireCounts().Specs[Running])
}

func TestFailedStartsAndEndsAreCounted(t *testing.T) {
	r := newSpecsRig(t, "a", "b")
	require.Equal(t, "a", r.placed(specOf("s")))
	r.end("a", "s", "")
	c := r.requireCounts()
	require.Equal(t, uint64(1), c.Moves[endedAlone])
	require.Zero(t, c.StartFailures)
}
