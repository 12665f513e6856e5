package plan

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDeadlinesPassInOrderAndOnlyWhileTheyHold(t *testing.T) {
	begin := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	at := func(s int) time.Time { return begin.Add(time.Duration(s) * time.Second) }
	var d deadlines[string]
	_, ok := d.first()
	require.False(t, ok)
	d.set("late", at(3))
	d.set("early", at(1))
	d.set("moved", at(1))
	d.set("moved", at(2))
	d.set("same", at(2))
	d.set("gone", at(0))
	d.clear("gone")
	first, ok := d.first()
	require.True(t, ok)
	require.Equal(t, at(1), first)
	require.Empty(t, d.pass(at(0)))
	require.Equal(t, []string{"early", "moved", "same"}, d.pass(at(2)))
	_, ok = d.of("early")
	require.False(t, ok)
	require.Equal(t, []string{"late"}, d.pass(at(9)))
	require.Empty(t, d.pass(at(9)))
}

// Against a map that is looked through each time.
func TestDeadlinesDoWhatAMapWouldDo(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5)) //nolint:gosec // a schedule, not a secret
	begin := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	var d deadlines[int]
	model := map[int]time.Time{}
	for now := range 20_000 {
		key, at := rng.IntN(50), begin.Add(time.Duration(now+rng.IntN(100))*time.Second)
		if rng.IntN(3) > 0 {
			d.set(key, at)
			model[key] = at
		} else {
			d.clear(key)
			delete(model, key)
		}
		if rng.IntN(4) > 0 {
			continue
		}
		var due []int
		for key, at := range model {
			if !at.After(begin.Add(time.Duration(now) * time.Second)) {
				due = append(due, key)
				delete(model, key)
			}
		}
		passed := d.pass(begin.Add(time.Duration(now) * time.Second))
		slices.Sort(due)
		slices.Sort(passed)
		require.Equal(t, due, passed)
		require.LessOrEqual(t, len(d.queue.entries), 2*50+65, "what does not hold any more is swept away")
	}
}
