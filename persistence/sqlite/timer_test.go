package sqlite

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

var noon = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)

func setting(key string, payload []byte) journal.TimerChange {
	return journal.TimerChange{Timer: journal.Timer{Key: key, Due: noon, Type: "timer", Payload: payload}}
}

func appendTimed(t *testing.T, j *Journal, id string, keys ...string) {
	t.Helper()
	claim, err := j.Claim(t.Context(), id, journal.WriterID{}, journal.Bounds{})
	require.NoError(t, err)
	req := some(id, claim.Epoch, 0, 1)
	for _, key := range keys {
		req.Timers = append(req.Timers, setting(key, []byte("p")))
	}
	require.NoError(t, j.Append(t.Context(), []journal.AppendRequest{req})[0])
}

func TestADamagedTimerIsAnError(t *testing.T) {
	for _, change := range []string{
		"key = 'y'", "due = due + 1", "slice = slice + 1", "attempt = -1", "attempt = 1", "type = 'other'", "payload = x''", "crc = 1", "crc = -1",
		"pid = (SELECT pid FROM entity WHERE pid = 'other')",
	} {
		j := openTest(t)
		appendTimed(t, j, "x", "a", "b")
		appendTimed(t, j, "other")
		alter(t, pathOf(j), "UPDATE timer SET "+change+" WHERE key = 'b'")
		id := "x"
		if strings.HasPrefix(change, "pid") {
			id = "other"
		}
		timers, err := j.Timers(t.Context(), id)
		require.ErrorIs(t, err, journal.ErrCorrupt, change)
		require.ErrorContains(t, err, "Journal.Check", change)
		require.Empty(t, timers, "half of the timers would look like all")
		err = j.Check(t.Context())
		require.ErrorIs(t, err, journal.ErrCorrupt, change)
		require.ErrorContains(t, err, fmt.Sprintf("read timers %q", id), change)
	}
}

func TestTheCheckFindsTimersOfNobody(t *testing.T) {
	j := openTest(t)
	appendTimed(t, j, "x", "a")
	require.NoError(t, j.Check(t.Context()))
	alter(t, pathOf(j), "UPDATE timer SET pid = 'nobody'")
	require.ErrorContains(t, j.Check(t.Context()), `there are timers of no persistence id: "nobody"`)
}

func TestATooLargeTimerDoesNotFailItsNeighbours(t *testing.T) {
	j := openTest(t)
	x, y := appendSome(t, j, "x", 1), appendSome(t, j, "y", 1)
	large, fits := some("x", x.Epoch, 1, 1), some("y", y.Epoch, 1, 1)
	large.Timers = []journal.TimerChange{setting("a", make([]byte, MaxPayload+1))}
	fits.Timers = []journal.TimerChange{setting("a", make([]byte, MaxPayload))}
	errs := j.Append(t.Context(), []journal.AppendRequest{large, fits})
	require.ErrorIs(t, errs[0], journal.ErrTooLarge)
	require.NoError(t, errs[1])
	timers, err := j.Timers(t.Context(), "y")
	require.NoError(t, err)
	require.Len(t, timers[0].Payload, MaxPayload)
	got, err := readAll(t, j, "x")
	require.NoError(t, err)
	require.Len(t, got, 1)
}

// No row of a timer is read, whether the timer is due or not.
func TestWakesAreReadFromTheIndexAlone(t *testing.T) {
	j := openTest(t)
	rows, err := j.readers.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+selectWakes, 1, "a", 2, 3, 4, 5)
	require.NoError(t, err)
	defer rows.Close()
	var steps []string
	for rows.Next() {
		var step string
		require.NoError(t, rows.Scan(new(int), new(int), new(int), &step))
		steps = append(steps, step)
	}
	require.NoError(t, rows.Err())
	require.Equal(t, []string{"SEARCH timer USING COVERING INDEX timer_wake ((due,pid)>(?,?) AND due<?)"}, steps)
}

func TestWakesBeforeAndAfterAllTimes(t *testing.T) {
	j := openTest(t)
	appendTimed(t, j, "x", "a")
	before, after := time.Date(1000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, from := range []time.Time{{}, before, noon, after} {
		for _, to := range []time.Time{{}, before, noon, after} {
			wakes, err := j.Wakes(t.Context(), journal.SliceRange{}, journal.Wake{Due: from}, to, 10)
			require.NoError(t, err)
			require.Equal(t, !from.Equal(after) && to.Equal(after), len(wakes) == 1, "from %v to %v", from, to)
		}
	}
}
