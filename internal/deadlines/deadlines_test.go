package deadlines

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
	var d Map[string]
	_, ok := d.First()
	require.False(t, ok)
	d.Set("late", at(3))
	d.Set("early", at(1))
	d.Set("moved", at(1))
	d.Set("moved", at(2))
	d.Set("same", at(2))
	d.Set("gone", at(0))
	d.Clear("gone")
	first, ok := d.First()
	require.True(t, ok)
	require.Equal(t, at(1), first)
	require.Empty(t, d.Pass(at(0)))
	require.Equal(t, []string{"early", "moved", "same"}, d.Pass(at(2)))
	_, ok = d.Of("early")
	require.False(t, ok)
	require.Equal(t, []string{"late"}, d.Pass(at(9)))
	require.Empty(t, d.Pass(at(9)))
}

// Against a map that is looked through each time.
func TestDeadlinesDoWhatAMapWouldDo(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5)) //nolint:gosec // a schedule, not a secret
	begin := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	var d Map[int]
	model := map[int]time.Time{}
	for now := range 20_000 {
		key, at := rng.IntN(50), begin.Add(time.Duration(now+rng.IntN(100))*time.Second)
		if rng.IntN(3) > 0 {
			d.Set(key, at)
			model[key] = at
		} else {
			d.Clear(key)
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
		passed := d.Pass(begin.Add(time.Duration(now) * time.Second))
		slices.Sort(due)
		slices.Sort(passed)
		require.Equal(t, due, passed)
		require.LessOrEqual(t, len(d.queue.entries), 2*50+65, "what does not hold any more is swept away")
	}
}
