package postgres_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/pgtest"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/postgres"
)

func collect(t testing.TB, j journal.EventReader, q journal.Query, after journal.Offset) []journal.Entry {
	t.Helper()
	var entries []journal.Entry
	for e, err := range j.Events(t.Context(), q, after) {
		require.NoError(t, err)
		entries = append(entries, e)
	}
	return entries
}

func TestEventsComeInOneOrderAndAfterTheirOffset(t *testing.T) {
	s := pgtest.Shared(t)
	j := open(t, s)
	owners := map[string]*owner{}
	for i := range 40 {
		id := fmt.Sprintf("id-%d", i)
		owners[id] = appendSome(t, j, id, 1)
	}
	for range 40 { // more than a page
		var reqs []journal.AppendRequest
		for id, o := range owners {
			req := some(id, o.claim.Epoch, o.claim.LastSeq, 1)
			if req.Records[0].Seq%3 == 0 {
				req.Records[0].Tags = []string{"third", `quo"te\d`}
			}
			reqs = append(reqs, req)
			o.claim.LastSeq++
		}
		for _, err := range j.Append(t.Context(), reqs) {
			require.NoError(t, err)
		}
	}
	all := collect(t, j, journal.Query{}, "")
	require.Len(t, all, 41*40)
	next := map[string]uint64{}
	for _, e := range all {
		require.Equal(t, next[e.ID]+1, e.Record.Seq, "the order of each id")
		next[e.ID]++
	}
	for i := 0; i < len(all); i += 397 {
		require.Equal(t, all[i+1:], collect(t, openAt(t, j.url, postgres.Schema(j.schema)), journal.Query{}, all[i].Offset))
	}
	for _, tag := range []string{"third", `quo"te\d`} {
		var want []journal.Entry
		for _, e := range all {
			if e.Record.Seq%3 == 0 {
				want = append(want, e)
			}
		}
		require.Equal(t, want, collect(t, j, journal.Query{Tag: tag}, ""))
		require.Equal(t, want[10:], collect(t, j, journal.Query{Tag: tag}, want[9].Offset))
	}
	require.Empty(t, collect(t, j, journal.Query{Tag: "thir"}, ""))
	parts := 0
	for _, r := range journal.Split(3) {
		for _, tag := range []string{"", "third"} {
			for _, e := range collect(t, j, journal.Query{Slices: r, Tag: tag}, "") {
				require.True(t, r.Contains(journal.SliceOf(e.ID)))
				if tag == "" {
					parts++
				}
			}
		}
	}
	require.Equal(t, len(all), parts)
}

func TestOffsetsOfOthersAreInvalid(t *testing.T) {
	j := open(t, pgtest.Shared(t))
	appendSome(t, j, "x", 1)
	for _, offset := range []journal.Offset{"1", "pg:", "pg:1", "pg:1.", "pg:01.1", "pg:1.1 ", "js:1.1", "pg:-1.1", "pg:1.99999999999999999999", "pg:18446744073709551615.1"} {
		for _, err := range j.Events(t.Context(), journal.Query{}, offset) {
			require.ErrorIs(t, err, journal.ErrInvalid, "%q", offset)
		}
	}
	for _, err := range j.Events(t.Context(), journal.Query{Tag: "\xff"}, "") {
		require.ErrorIs(t, err, journal.ErrInvalid)
	}
}

// Writers take their transaction ids and positions in any order, and commit or roll back in any
// other order, while a reader follows. The reader misses no committed event. A reader by sequence
// is measured for comparison, and misses events.
func TestASlowTransactionIsNeverPassedOver(t *testing.T) {
	s := pgtest.Shared(t)
	j := open(t, s)
	alter(t, s, j.schema, "CREATE SEQUENCE naive")
	const writers = 16
	writing, stop := context.WithTimeout(t.Context(), 4*time.Second)
	defer stop()
	var all sync.WaitGroup
	committed := make([]map[string]bool, writers)
	errs := make([]error, writers)
	for i := range writers {
		conn, err := pgx.Connect(t.Context(), s.URL())
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close(t.Context()) })
		all.Go(func() {
			committed[i], errs[i] = writeSlowly(context.WithoutCancel(writing), writing.Done(), conn, j.schema, i)
		})
	}
	ended := make(chan struct{})
	go func() { all.Wait(); close(ended) }()

	seen := map[string]bool{}
	after := journal.Offset("")
	naive := naiveReader{s: s, schema: j.schema, seen: map[string]bool{}}
	follow := func() {
		for e, err := range j.Events(t.Context(), journal.Query{}, after) {
			require.NoError(t, err)
			require.False(t, seen[e.ID], "once")
			seen[e.ID], after = true, e.Offset
		}
		naive.follow(t)
	}
	slow := begin(t, s, j.schema)
	require.NoError(t, writeOne(t.Context(), slow, "slow"))
	fast := begin(t, s, j.schema)
	require.NoError(t, writeOne(t.Context(), fast, "fast"))
	require.NoError(t, fast.Commit(t.Context()))
	follow()
	require.NoError(t, slow.Commit(t.Context()))
	follow()
	require.Contains(t, naive.seen, "fast")
	require.NotContains(t, naive.seen, "slow", "the test must show what would be lost")

	for running := true; running; {
		select {
		case <-ended:
			running = false
		case <-time.After(2 * time.Millisecond): // as a reader polls a real server
		}
		follow()
	}
	// Another test's transaction may have been open when the last was committed.
	require.Eventually(t, func() bool { //nolint:forbidigo // a real server
		follow()
		lag, err := j.Lag(t.Context())
		require.NoError(t, err)
		return lag == 0
	}, time.Minute, 5*time.Millisecond)
	total, missed, missedNaively := 0, 0, 0
	for i := range writers {
		require.NoError(t, errs[i])
		for id := range committed[i] {
			total++
			if !seen[id] {
				missed++
			}
			if !naive.seen[id] {
				missedNaively++
			}
		}
	}
	t.Logf("%d events committed, %d missed; by a sequence: %d missed", total, missed, missedNaively)
	require.Zero(t, missed)
	require.Len(t, seen, total+2, "and slow and fast")
}

// writeSlowly stores each event in a separate transaction. It pauses before and after it takes the
// transaction id and the sequence number. One transaction in twenty is rolled back.
func writeSlowly(ctx context.Context, done <-chan struct{}, conn *pgx.Conn, schema string, writer int) (map[string]bool, error) {
	committed := map[string]bool{}
	name := pgx.Identifier{schema}.Sanitize()
	if _, err := conn.Exec(ctx, "SET search_path = "+name); err != nil {
		return nil, err
	}
	pause := func() {
		if rand.IntN(3) == 0 {
			time.Sleep(rand.N(8 * time.Millisecond)) // real transactions overlap
		}
	}
	for n := 0; ; n++ {
		select {
		case <-done:
			return committed, nil
		default:
		}
		id := fmt.Sprintf("%d-%d", writer, n)
		tx, err := conn.Begin(ctx)
		if err != nil {
			return nil, err
		}
		pause()
		if rand.IntN(2) == 0 {
			_, err = tx.Exec(ctx, "SELECT pg_current_xact_id()")
		}
		pause()
		if err == nil {
			err = writeOne(ctx, tx, id)
		}
		pause()
		if err != nil {
			return nil, err
		}
		if rand.IntN(20) == 0 {
			err = tx.Rollback(ctx)
		} else if err = tx.Commit(ctx); err == nil {
			committed[id] = true
		}
		if err != nil {
			return nil, err
		}
	}
}

func writeOne(ctx context.Context, tx pgx.Tx, id string) error {
	r := journal.Record{Seq: 1, Epoch: 1}
	_, err := tx.Exec(ctx, `INSERT INTO understudy_event VALUES ($1, 1, 1, $2, $3, 0, '', '{}', NULL, '', $4, $5, pg_current_xact_id(), nextval('naive'))`,
		id, r.Writer[:], r.Time.Unix(), int32(r.Checksum(id)), journal.SliceOf(id))
	return err
}

// A naiveReader reads the events with greater numbers than the last one that it has seen.
type naiveReader struct {
	s      *pgtest.Server
	schema string
	conn   *pgx.Conn
	last   int64
	seen   map[string]bool
}

func (n *naiveReader) follow(t *testing.T) {
	if n.conn == nil {
		var err error
		n.conn, err = pgx.Connect(t.Context(), n.s.URL())
		require.NoError(t, err)
		t.Cleanup(func() { _ = n.conn.Close(t.Context()) })
	}
	rows, err := n.conn.Query(t.Context(), "SELECT pid, ord FROM "+pgx.Identifier{n.schema, "understudy_event"}.Sanitize()+" WHERE ord > $1 ORDER BY ord", n.last)
	require.NoError(t, err)
	for rows.Next() {
		var id string
		require.NoError(t, rows.Scan(&id, &n.last))
		n.seen[id] = true
	}
	require.NoError(t, rows.Err())
}

// An open transaction that has written, anywhere in the server, delays readers; Lag shows the
// delay.
func TestALongTransactionHoldsReadersBackAndLagSaysSo(t *testing.T) {
	s := pgtest.Start(t, "fsync=off")
	j := open(t, s)
	appendSome(t, j, "before", 1)
	require.Len(t, collect(t, j, journal.Query{}, ""), 1)
	lag, err := j.Lag(t.Context())
	require.NoError(t, err)
	require.Zero(t, lag)

	tx := begin(t, s, "public")
	_, err = tx.Exec(t.Context(), "CREATE TABLE elsewhere (x int)")
	require.NoError(t, err)
	o, err := own(j, "after")
	require.NoError(t, err)
	req := some("after", o.claim.Epoch, 0, 1)
	req.Records[0].Time = time.Now().Add(-time.Hour)
	require.NoError(t, appendOne(t, j, req))
	require.Len(t, collect(t, j, journal.Query{}, ""), 1, "it may be that something comes before it")
	lag, err = j.Lag(t.Context())
	require.NoError(t, err)
	require.InDelta(t, time.Hour.Seconds(), lag.Seconds(), 60)

	require.NoError(t, tx.Rollback(t.Context()))
	require.Len(t, collect(t, j, journal.Query{}, ""), 2)
	lag, err = j.Lag(t.Context())
	require.NoError(t, err)
	require.Zero(t, lag)
}

// Rows from a server with higher transaction ids would never be shown, or in a wrong order.
func TestEventsOfAnotherServerAreNoticed(t *testing.T) {
	s := pgtest.Shared(t)
	j := open(t, s)
	appendSome(t, j, "x", 3)
	o := appendSome(t, j, "y", 2)
	alter(t, s, j.schema, "UPDATE understudy_event SET xid = (xid::text::bigint + 1000000000)::text::xid8")
	var err error
	for _, err = range j.Events(t.Context(), journal.Query{}, "") {
	}
	require.ErrorIs(t, err, journal.ErrUnavailable)
	require.ErrorContains(t, err, "Moving to another server")

	s.SQL(t, postgres.Renumber(j.schema))
	require.NoError(t, appendOne(t, j, o.next()))
	var got []string
	for _, e := range collect(t, j, journal.Query{}, "") {
		got = append(got, fmt.Sprint(e.ID, e.Record.Seq))
	}
	require.Equal(t, []string{"x1", "x2", "x3", "y1", "y2", "y3"}, got)
}
