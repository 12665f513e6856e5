package journalhistory

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

// A TimerStore is a store in which the history can be kept with timers.
type TimerStore interface {
	Store
	journal.TimerStore
}

func timers() []journal.Timer {
	return []journal.Timer{
		{Key: "first", Due: time.Date(1678, 1, 1, 0, 0, 0, 1, time.UTC), Type: "bank.due", Payload: []byte{0xa0}},
		{Key: "größer", Due: begin, Attempt: 1 << 40, Type: "bank.due", Payload: []byte{0xff, 1, 'c', 0}},
		{Key: "last", Due: time.Date(2261, 12, 31, 23, 59, 59, 999_999_999, time.UTC), Type: "bank.late", Payload: []byte{0xa1, 0x61, 'n', 9}},
	}
}

// WriteTimers adds timers to the history that Write has stored. Stores have them since a later
// version than the history.
func WriteTimers(t testing.TB, s TimerStore) {
	t.Helper()
	req := journal.AppendRequest{ID: whole, Epoch: second, Prev: 3, Timers: []journal.TimerChange{{Timer: journal.Timer{Key: "removed", Due: begin, Payload: []byte{0xa0}}}}}
	for _, timer := range timers() {
		req.Timers = append(req.Timers, journal.TimerChange{Timer: timer})
	}
	req.Timers = append(req.Timers, journal.TimerChange{Timer: journal.Timer{Key: "removed"}, Remove: true})
	require.NoError(t, s.Append(t.Context(), []journal.AppendRequest{req})[0])
}

// RequireTimers requires that s has what WriteTimers has added.
func RequireTimers(t testing.TB, s TimerStore) {
	t.Helper()
	got, err := s.Timers(t.Context(), whole)
	require.NoError(t, err)
	require.Equal(t, timers(), got)
	var want []journal.Wake
	for _, timer := range timers() {
		want = append(want, journal.Wake{Due: timer.Due, ID: whole})
	}
	wakes, err := s.Wakes(t.Context(), journal.SliceRange{}, journal.Wake{}, time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC), 10)
	require.NoError(t, err)
	require.Equal(t, want, wakes)
}
