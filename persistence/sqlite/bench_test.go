package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/lab/storebench"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/journaltest"
)

func BenchmarkAppend(b *testing.B) {
	journaltest.BenchmarkAppend(b, func(b *testing.B) journal.Journal { return openTest(b) })
}

func BenchmarkAppendProcessSafe(b *testing.B) {
	journaltest.BenchmarkAppend(b, func(b *testing.B) journal.Journal { return openTest(b, ProcessSafe()) })
}

func BenchmarkReplay(b *testing.B) {
	journaltest.BenchmarkReplay(b, func(b *testing.B) journal.Journal { return openTest(b) })
}

func BenchmarkEvents(b *testing.B) {
	journaltest.BenchmarkEvents(b, func(b *testing.B) journal.Journal { return openTest(b) })
}

// BenchmarkAppendBesideRaw compares the appends of a journal with the driver alone, which runs the
// same statements for all queued requests.
func BenchmarkAppendBesideRaw(b *testing.B) {
	for _, mode := range []struct {
		name string
		opts []Option
	}{{"durable", nil}, {"relaxed", []Option{ProcessSafe()}}} {
		for _, n := range []int{1, 8, 64} {
			b.Run(fmt.Sprintf("%s/writers=%d", mode.name, n), func(b *testing.B) {
				storebench.Append(b,
					storebench.JournalWriters(b, openTest(b, mode.opts...), n),
					rawWriters(b, n, (*raw).appendFenced, mode.opts...),
				).Beside(b, "events/s")
			})
		}
	}
}

// BenchmarkActorsBesideRaw compares the commands of event-sourced actors with the driver alone,
// which commits all queued requests by the same statements.
func BenchmarkActorsBesideRaw(b *testing.B) {
	for _, n := range []int{1, 64, 1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("actors=%d", n), func(b *testing.B) {
			storebench.Append(b,
				storebench.ActorWriters(b, openTest(b), n),
				rawWriters(b, n, (*raw).appendFenced),
			).Beside(b, "commands/s")
		})
	}
}

// BenchmarkFencing compares appends by the driver alone: with the statements of the journal, with
// an unconditional update of the head, and without heads.
func BenchmarkFencing(b *testing.B) {
	const n = 64
	t := storebench.Append(b,
		rawWriters(b, n, (*raw).appendFenced), rawWriters(b, n, (*raw).appendUnfenced), rawWriters(b, n, (*raw).appendHeadless))
	b.ReportMetric(t.Rate(0), "events/s")
	b.ReportMetric(100-100*t.Ratio(1, 0), "%condition")
	b.ReportMetric(100-100*t.Ratio(2, 0), "%head")
}

func BenchmarkGroupCommit(b *testing.B) {
	storebench.GroupCommit(b, func() journal.Journal { return openTest(b) })
}

func BenchmarkReplayBesideRaw(b *testing.B) {
	j := openTest(b, ProcessSafe())
	storebench.Replay(b, j, (&raw{j: j}).scan)
}

func BenchmarkReplayManyBesideRaw(b *testing.B) {
	j := openTest(b, ProcessSafe())
	storebench.ReplayMany(b, j, (&raw{j: j}).scanBehindHead)
}

func BenchmarkClaimBesideRaw(b *testing.B) {
	storebench.Claim(b, openTest(b), newRaw(b, 20).claim)
}

func BenchmarkRecovery(b *testing.B) {
	storebench.Recovery(b, openTest(b))
}

func BenchmarkTimers(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000} {
		b.Run(fmt.Sprintf("timers=%d", n), func(b *testing.B) {
			storebench.Timers(b, n, func() journal.TimerStore { return openTest(b) })
		})
	}
}

// A raw is the driver alone, on a separate database. It uses the tables and statements of an idle
// journal.
type raw struct {
	j                        *Journal
	eids                     []int64 // of the writers
	advanceHead, insertEvent *sql.Stmt
}

func newRaw(b *testing.B, writers int, opts ...Option) *raw {
	j := openTest(b, opts...)
	r := &raw{j: j, eids: make([]int64, writers)}
	for query, stmt := range map[string]**sql.Stmt{advanceHead: &r.advanceHead, insertEvent: &r.insertEvent} {
		prepared, err := j.writer.conn.PrepareContext(b.Context(), query)
		require.NoError(b, err)
		b.Cleanup(func() { require.NoError(b, prepared.Close()) })
		*stmt = prepared
	}
	for i := range r.eids {
		id := storebench.ID(i)
		_, err := j.Claim(b.Context(), id, journal.WriterID{}, journal.Bounds{})
		require.NoError(b, err)
		require.NoError(b, j.readers.QueryRow("SELECT id FROM entity WHERE pid = ?", id).Scan(&r.eids[i]))
	}
	alter(b, pathOf(j), "UPDATE entity SET crc = 0") // there are no checksums
	return r
}

// rawWriters append by store, which runs in a transaction.
func rawWriters(b *testing.B, n int, store func(*raw, storebench.Event) error, opts ...Option) storebench.Writers {
	r := newRaw(b, n, opts...)
	return storebench.RawWriters(b, n, func(group []storebench.Event) error {
		return r.inTransaction(func() error {
			for _, e := range group {
				if err := store(r, e); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

func (r *raw) inTransaction(f func() error) error {
	if _, err := r.j.writer.stmts.begin.Exec(); err != nil {
		return err
	}
	if err := f(); err != nil {
		return err
	}
	_, err := r.j.writer.stmts.commit.Exec()
	return err
}

// appendFenced does what the journal does.
func (r *raw) appendFenced(e storebench.Event) error {
	result, err := r.advanceHead.Exec(e.Seq, 0, r.eids[e.Writer], 1, e.Seq-1, 0, 0)
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		return fmt.Errorf("%d heads moved: %w", n, err)
	}
	return r.appendHeadless(e)
}

// appendUnfenced keeps the head, and has no condition.
func (r *raw) appendUnfenced(e storebench.Event) error {
	if _, err := r.j.writer.stmts.updateHead.Exec(1, rawWriter, e.Seq, 0, 0, r.eids[e.Writer]); err != nil {
		return err
	}
	return r.appendHeadless(e)
}

var rawWriter = make([]byte, 16)

// appendHeadless stores the event, and no more.
func (r *raw) appendHeadless(e storebench.Event) error {
	_, err := r.insertEvent.Exec(r.eids[e.Writer], e.Seq, 1, rawWriter, 1_800_000_000, 0, "event", nil, nil, storebench.Payload, 0)
	return err
}

// claim does what a claim does.
func (r *raw) claim(_ context.Context, id string) error {
	return r.inTransaction(func() error {
		var h head
		var writer []byte
		var crc uint32
		if err := r.j.writer.stmts.head.QueryRow(id).Scan(&h.eid, &h.epoch, &writer, &h.seq, &h.deletedTo, &crc); err != nil {
			return err
		}
		_, err := r.j.writer.stmts.updateHead.Exec(h.epoch+1, writer, h.seq, h.deletedTo, crc, h.eid)
		return err
	})
}

// scan runs one query and scans its columns without decoding them.
func (r *raw) scan(ctx context.Context, id string, to int, seen func()) error {
	rows, err := r.j.readers.QueryContext(ctx,
		"SELECT "+eventColumns+" FROM event e WHERE e.eid = (SELECT id FROM entity WHERE pid = ?) AND e.seq <= ? ORDER BY e.seq", id, to)
	if err != nil {
		return err
	}
	return scanAll(rows, seen)
}

// scanBehindHead is the two queries of the journal in one transaction.
func (r *raw) scanBehindHead(ctx context.Context, id string, to int, seen func()) error {
	tx, err := r.j.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var h head
	var writer []byte
	var crc uint32
	if err := tx.QueryRowContext(ctx, selectHead, id).Scan(&h.eid, &h.epoch, &writer, &h.seq, &h.deletedTo, &crc); err != nil {
		return err
	}
	rows, err := tx.QueryContext(ctx, "SELECT "+eventColumns+" FROM event e WHERE e.eid = ? AND e.seq <= ? ORDER BY e.seq", h.eid, to)
	if err != nil {
		return err
	}
	return scanAll(rows, seen)
}

func scanAll(rows *sql.Rows, seen func()) error {
	defer rows.Close()
	var row eventRow
	columns := row.columns()
	for rows.Next() {
		if err := rows.Scan(columns...); err != nil {
			return err
		}
		seen()
	}
	return rows.Err()
}
