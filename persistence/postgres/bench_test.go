package postgres_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/lab/storebench"
	"github.com/understudy-go/understudy/internal/lab/workflowbench"
	"github.com/understudy-go/understudy/internal/pgtest"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/journaltest"
	"github.com/understudy-go/understudy/persistence/postgres"
)

func BenchmarkAppend(b *testing.B) {
	journaltest.BenchmarkAppend(b, func(b *testing.B) journal.Journal { return open(b, pgtest.Shared(b)) })
}

func BenchmarkAppendProcessSafe(b *testing.B) {
	journaltest.BenchmarkAppend(b, func(b *testing.B) journal.Journal { return open(b, pgtest.Shared(b), postgres.ProcessSafe()) })
}

func BenchmarkReplay(b *testing.B) {
	journaltest.BenchmarkReplay(b, func(b *testing.B) journal.Journal { return open(b, pgtest.Shared(b)) })
}

func BenchmarkClaim(b *testing.B) {
	j := open(b, pgtest.Shared(b))
	for b.Loop() {
		_, err := j.Claim(b.Context(), "x", journal.WriterID{}, journal.Bounds{})
		require.NoError(b, err)
	}
}

// BenchmarkEvents measures how fast a projection reads all events.
func BenchmarkEvents(b *testing.B) {
	const ids, events = 20, 500
	j := open(b, pgtest.Shared(b))
	for i := range ids {
		appendSome(b, j, fmt.Sprint(i), events)
	}
	for b.Loop() {
		require.Len(b, collect(b, j, journal.Query{}, ""), ids*events)
	}
	b.ReportMetric(float64(b.N)*ids*events/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkAppendBesideRaw compares the appends of a journal with the driver alone, which sends the
// same statement for all queued requests.
func BenchmarkAppendBesideRaw(b *testing.B) {
	for _, mode := range []struct {
		name string
		opts []postgres.Option
	}{{"durable", nil}, {"relaxed", []postgres.Option{postgres.ProcessSafe()}}} {
		for _, n := range []int{1, 8, 64} {
			b.Run(fmt.Sprintf("%s/writers=%d", mode.name, n), func(b *testing.B) {
				s := pgtest.Shared(b)
				storebench.Append(b,
					storebench.JournalWriters(b, open(b, s, mode.opts...), n),
					newRaw(b, s, n, mode.opts...).writers((*postgres.Journal).AppendStatement),
				).Beside(b, "events/s")
			})
		}
	}
}

// BenchmarkActorsBesideRaw compares the commands of event-sourced actors with the driver alone,
// which sends the same statement for all queued requests.
func BenchmarkActorsBesideRaw(b *testing.B) {
	for _, n := range []int{1, 64, 1_000, 10_000} {
		b.Run(fmt.Sprintf("actors=%d", n), func(b *testing.B) {
			s := pgtest.Shared(b)
			storebench.Append(b,
				storebench.ActorWriters(b, open(b, s), n),
				newRaw(b, s, n).writers((*postgres.Journal).AppendStatement),
			).Beside(b, "commands/s")
		})
	}
}

// BenchmarkFencing compares appends by the driver alone, with the statement of the journal and with
// a statement without heads. The second neither fences nor checks anything.
func BenchmarkFencing(b *testing.B) {
	const n = 64
	s := pgtest.Shared(b)
	t := storebench.Append(b,
		newRaw(b, s, n).writers((*postgres.Journal).AppendStatement),
		newRaw(b, s, n).writers(func(*postgres.Journal) string { return insertOnly }))
	b.ReportMetric(t.Rate(0), "events/s")
	b.ReportMetric(100-100*t.Ratio(1, 0), "%head")
}

func BenchmarkGroupCommit(b *testing.B) {
	storebench.GroupCommit(b, func() journal.Journal { return open(b, pgtest.Shared(b)) })
}

func BenchmarkWorkflows(b *testing.B) {
	workflowbench.Measure(b, func() journal.Journal { return open(b, pgtest.Shared(b)) })
}

func BenchmarkReplayBesideRaw(b *testing.B) {
	r := newRaw(b, pgtest.Shared(b), 0, postgres.ProcessSafe())
	storebench.Replay(b, r.j, r.scan)
}

func BenchmarkReplayManyBesideRaw(b *testing.B) {
	r := newRaw(b, pgtest.Shared(b), 0, postgres.ProcessSafe())
	storebench.ReplayMany(b, r.j, r.scanWithHead)
}

func BenchmarkClaimBesideRaw(b *testing.B) {
	s := pgtest.Shared(b)
	storebench.Claim(b, open(b, s), newRaw(b, s, 20).claim)
}

func BenchmarkRecovery(b *testing.B) {
	storebench.Recovery(b, open(b, pgtest.Shared(b)))
}

func BenchmarkTimers(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000} {
		b.Run(fmt.Sprintf("timers=%d", n), func(b *testing.B) {
			storebench.Timers(b, n, func() journal.TimerStore { return open(b, pgtest.Shared(b)) })
		})
	}
}

// A raw is the driver alone, on one connection. It uses the tables and statements of an idle
// journal.
type raw struct {
	b    *testing.B
	j    *postgres.Journal
	conn *pgx.Conn
	n    int
}

func newRaw(b *testing.B, s *pgtest.Server, writers int, opts ...postgres.Option) *raw {
	j := open(b, s, opts...)
	conn, err := pgx.Connect(b.Context(), s.URL())
	require.NoError(b, err)
	b.Cleanup(func() { _ = conn.Close(context.WithoutCancel(b.Context())) })
	_, err = conn.Exec(b.Context(), "SET search_path = "+pgx.Identifier{j.schema}.Sanitize())
	require.NoError(b, err)
	for i := range writers {
		_, err := j.Claim(b.Context(), storebench.ID(i), journal.WriterID{}, journal.Bounds{})
		require.NoError(b, err)
	}
	return &raw{b, j.Journal, conn, writers}
}

// writers append with a statement that has the same arguments as the journal's.
func (r *raw) writers(statement func(*postgres.Journal) string) storebench.Writers {
	query := statement(r.j)
	return storebench.RawWriters(r.b, r.n, func(group []storebench.Event) error {
		rows, err := r.conn.Query(r.b.Context(), query, rawArguments(group)...)
		if err != nil {
			return err
		}
		numbers, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err == nil && len(numbers) != len(group) {
			err = fmt.Errorf("%d of %d were stored", len(numbers), len(group))
		}
		return err
	})
}

const insertOnly = `INSERT INTO understudy_event (pid, seq, epoch, writer, sec, nsec, type, tags, meta, payload, crc, slice, xid, ord)
SELECT r.pid, e.seq, r.epoch, e.writer, e.sec, e.nsec, e.type, e.tags::text[], nullif(e.meta, '')::jsonb, e.payload, e.crc, r.slice, pg_current_xact_id(), e.ord
FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::int[], $6::smallint[]) WITH ORDINALITY AS r(pid, epoch, prev, last, flip, slice, n)
JOIN unnest($7::bigint[], $8::bigint[], $9::bytea[], $10::bigint[], $11::int[], $12::text[], $13::text[], $14::text[], $15::bytea[], $16::int[])
	WITH ORDINALITY AS e(n, seq, writer, sec, nsec, type, tags, meta, payload, crc, ord) ON e.n = r.n
RETURNING ord`

var rawWriter = make([]byte, 16)

func rawArguments(group []storebench.Event) []any {
	var (
		ids, types, tags, metas   []string
		epochs, prevs, last, secs []int64
		requests                  []int64
		flips, nsecs, crcs        []int32
		slots                     []int16
		writers, payloads         [][]byte
	)
	for i, e := range group {
		ids, types, tags, metas = append(ids, storebench.ID(e.Writer)), append(types, "event"), append(tags, "{}"), append(metas, "")
		epochs, prevs, last, secs = append(epochs, 1), append(prevs, int64(e.Seq)-1), append(last, int64(e.Seq)), append(secs, 1_800_000_000)
		requests = append(requests, int64(i)+1)
		flips, nsecs, crcs = append(flips, postgres.Advance(e.Seq-1, e.Seq)), append(nsecs, 0), append(crcs, 0)
		slots, writers, payloads = append(slots, 1), append(writers, rawWriter), append(payloads, storebench.Payload)
	}
	return []any{ids, epochs, prevs, last, flips, slots, requests, last, writers, secs, nsecs, types, tags, metas, payloads, crcs}
}

// claim performs a claim, also durably and in one statement.
func (r *raw) claim(ctx context.Context, id string) error {
	var epoch, seq, deletedTo int64
	var writer []byte
	var crc int32
	return r.conn.QueryRow(ctx, `INSERT INTO understudy_entity AS h (pid, epoch, writer, seq, deleted_to, crc) VALUES ($1, 1, $2, 0, 0, 0)
		ON CONFLICT (pid) DO UPDATE SET epoch = h.epoch + 1, writer = $2 RETURNING epoch, writer, seq, deleted_to, crc`, id, rawWriter).
		Scan(&epoch, &writer, &seq, &deletedTo, &crc)
}

// scan runs one query and scans its columns without decoding them.
const scanEvents = "SELECT seq, epoch, writer, sec, nsec, type, tags, meta::text, payload, crc FROM understudy_event WHERE pid = $1 AND seq <= $2 ORDER BY seq"

func (r *raw) scan(ctx context.Context, id string, to int, seen func()) error {
	rows, err := r.conn.Query(ctx, scanEvents, id, to)
	if err != nil {
		return err
	}
	return scanRows(rows, seen)
}

// scanWithHead reads the head, too, in the same request, as the journal does.
func (r *raw) scanWithHead(ctx context.Context, id string, to int, seen func()) error {
	batch := &pgx.Batch{}
	batch.Queue("SELECT epoch, writer, seq, deleted_to, crc FROM understudy_entity WHERE pid = $1", id)
	batch.Queue(scanEvents, id, to)
	results := r.conn.SendBatch(ctx, batch)
	defer results.Close()
	var epoch, last, deletedTo, crc int64
	var writer []byte
	if err := results.QueryRow().Scan(&epoch, &writer, &last, &deletedTo, &crc); err != nil {
		return err
	}
	rows, err := results.Query()
	if err != nil {
		return err
	}
	return scanRows(rows, seen)
}

// scanRows calls seen for each row that scanEvents has found.
func scanRows(rows pgx.Rows, seen func()) error {
	defer rows.Close()
	var seq, epoch, sec, nsec, crc int64
	var writer, payload []byte
	var typ string
	var tags []string
	var meta *string
	columns := []any{&seq, &epoch, &writer, &sec, &nsec, &typ, &tags, &meta, &payload, &crc}
	for rows.Next() {
		payload = nil // a reader would keep it
		if err := rows.Scan(columns...); err != nil {
			return err
		}
		seen()
	}
	return rows.Err()
}
