package postgres_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/pgtest"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/postgres"
)

var noon = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)

func setting(key string, payload []byte) journal.TimerChange {
	return journal.TimerChange{Timer: journal.Timer{Key: key, Due: noon, Type: "timer", Payload: payload}}
}

// appendTimed claims id, and appends an event with a timer for each key.
func appendTimed(t testing.TB, j journal.Journal, id string, keys ...string) *owner {
	t.Helper()
	o, err := own(j, id)
	require.NoError(t, err)
	req := o.next()
	for _, key := range keys {
		req.Timers = append(req.Timers, setting(key, []byte("p")))
	}
	require.NoError(t, appendOne(t, j, req))
	o.claim.LastSeq = 1
	return o
}

func TestADamagedTimerIsAnError(t *testing.T) {
	s := pgtest.Shared(t)
	for _, change := range []string{
		"key = 'y'", "due = due + 1", "slice = slice + 1", "attempt = -1", "attempt = 1", "type = 'other'", "payload = ''", "crc = 1", "crc = -1",
		"pid = 'other'",
	} {
		j := open(t, s)
		appendTimed(t, j, "x", "a", "b")
		appendTimed(t, j, "other")
		alter(t, s, j.schema, "UPDATE understudy_timer SET "+change+" WHERE key = 'b'")
		id := "x"
		if strings.HasPrefix(change, "pid") {
			id = "other"
		}
		timers, err := j.Timers(t.Context(), id)
		require.ErrorIs(t, err, journal.ErrCorrupt, change)
		require.Empty(t, timers, "half of the timers would look like all")
	}
}

func TestATooLargeTimerDoesNotFailItsNeighbours(t *testing.T) {
	j := open(t, pgtest.Shared(t))
	x, y := appendTimed(t, j, "x"), appendTimed(t, j, "y")
	large, fits := some("x", x.claim.Epoch, 1, 1), some("y", y.claim.Epoch, 1, 1)
	large.Timers = []journal.TimerChange{setting("a", make([]byte, postgres.MaxPayload+1))}
	fits.Timers = []journal.TimerChange{setting("a", make([]byte, postgres.MaxPayload))}
	errs := j.Append(t.Context(), []journal.AppendRequest{large, fits})
	require.ErrorIs(t, errs[0], journal.ErrTooLarge)
	require.NoError(t, errs[1])
	timers, err := j.Timers(t.Context(), "y")
	require.NoError(t, err)
	require.Len(t, timers[0].Payload, postgres.MaxPayload)
	got, err := readAll(t, j, "x")
	require.NoError(t, err)
	require.Len(t, got, 1)
}

// Groups are stored by one statement; requests with timers, without, and with nothing else share
// it.
func TestRequestsOfAGroupChangeTheirOwnTimers(t *testing.T) {
	j := open(t, pgtest.Shared(t))
	var reqs []journal.AppendRequest
	for n := range 30 {
		o := appendTimed(t, j, fmt.Sprint(n), "old", "kept")
		req := some(fmt.Sprint(n), o.claim.Epoch, 1, n%3)
		switch {
		case n == 7:
			req.Prev, req.Records = 5, nil // in conflict
			req.Timers = []journal.TimerChange{setting("wrong", nil)}
		case n%3 == 0 || n%2 == 0:
			req.Timers = []journal.TimerChange{setting("new", nil), {Timer: journal.Timer{Key: "old"}, Remove: true}}
		}
		reqs = append(reqs, req)
	}
	for n, err := range j.Append(t.Context(), reqs) {
		want := []string{"kept", "old"}
		if n == 7 {
			require.ErrorIs(t, err, journal.ErrConflict)
		} else {
			require.NoError(t, err)
			if reqs[n].Timers != nil {
				want = []string{"kept", "new"}
			}
		}
		timers, err := j.Timers(t.Context(), fmt.Sprint(n))
		require.NoError(t, err)
		var keys []string
		for _, timer := range timers {
			keys = append(keys, timer.Key)
		}
		require.Equal(t, want, keys, n)
	}
}

// However many timers are due, a page reads its part of the index and sorts nothing. That holds
// while the statistics are of an empty table, and for the plan that the server keeps for any
// arguments.
func TestWakesAreReadInTheOrderOfTheirIndex(t *testing.T) {
	s := pgtest.Shared(t)
	j := open(t, s)
	for _, step := range []string{
		"VACUUM ANALYZE understudy_timer",
		`INSERT INTO understudy_timer SELECT 'id-' || n % 1000, n::text, n, n % 1024, 0, '', '', 0 FROM generate_series(1, 50000) n`,
		"ANALYZE understudy_timer",
	} {
		conn := begin(t, s, j.schema).Conn()
		_, err := conn.Exec(t.Context(), "COMMIT") // there is no vacuum in a transaction
		require.NoError(t, err)
		_, err = conn.Exec(t.Context(), step)
		require.NoError(t, err)
		for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
			plan := planOfWakes(t, conn, j, mode)
			require.Contains(t, plan, "Scan using understudy_timer_wake", "%s, %s", step, mode)
			require.NotContains(t, plan, "Sort", "%s, %s", step, mode)
		}
	}
}

func planOfWakes(t *testing.T, conn *pgx.Conn, j *handle, mode string) (plan string) {
	t.Helper()
	tx, err := conn.Begin(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Rollback(t.Context())) }()
	settings, query := j.WakesStatements()
	for _, statement := range []string{"SET LOCAL plan_cache_mode = " + mode, settings, "DEALLOCATE ALL", "PREPARE wakes AS " + query} {
		_, err := tx.Exec(t.Context(), statement, pgx.QueryExecModeSimpleProtocol)
		require.NoError(t, err)
	}
	rows, err := tx.Query(t.Context(), "EXPLAIN EXECUTE wakes(1, 'id-1', 40000, 0, 340, 1000)", pgx.QueryExecModeSimpleProtocol)
	require.NoError(t, err)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return strings.Join(lines, "\n")
}
