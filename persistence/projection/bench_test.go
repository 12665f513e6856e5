//go:build !race

package projection_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/lab/storebench"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/projection"
	"github.com/understudy-go/understudy/persistence/sqlite"
)

// BenchmarkProjection measures the events per second of projections of 5,000 events in an SQLite
// journal. One only reads, one adds up in memory, and one adds up in a table, in transactions of a
// hundred. "bare" is the cost of the table alone: the same statements in the same transactions.
func BenchmarkProjection(b *testing.B) {
	const ids, events = 50, 100
	j, err := sqlite.Open(filepath.Join(b.TempDir(), "journal.db"))
	require.NoError(b, err)
	defer j.Close()
	for i := range ids {
		fillID(b, j, fmt.Sprint("id-", i), events)
	}
	measure := func(name string, run func(b *testing.B)) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				run(b)
			}
			b.ReportMetric(float64(b.N)*ids*events/b.Elapsed().Seconds(), "events/s")
		})
	}
	measure("read", func(b *testing.B) {
		for _, err := range j.Events(b.Context(), journal.Query{}, "") {
			require.NoError(b, err)
		}
	})
	measure("memory", func(b *testing.B) {
		sum := map[string]int{}
		p := projection.New("sums", j, journal.Query{}, projection.AtLeastOnce(&projection.MemoryOffsets{},
			func(_ context.Context, e projection.Event[event]) error { sum[e.ID]++; return nil }))
		_, err := p.CatchUp(b.Context())
		require.NoError(b, err)
	})
	measure("table", func(b *testing.B) {
		db := benchmarkModel(b)
		_, err := sums(db, j).CatchUp(b.Context())
		require.NoError(b, err)
	})
	measure("bare", func(b *testing.B) {
		db := benchmarkModel(b)
		for range ids * events / 100 {
			require.NoError(b, addBare(b.Context(), db, 100))
		}
	})
}

// BenchmarkProjectionBesideLoop compares projections of 5,000 events in an SQLite journal with a
// loop. The loop reads the same events without decoding them, and makes the same changes to the
// same database: a row for each event and the offset in one transaction. For the handler that adds
// up in memory, it stores the offset only.
func BenchmarkProjectionBesideLoop(b *testing.B) {
	const ids, events = 50, 100
	j, err := sqlite.Open(filepath.Join(b.TempDir(), "journal.db"))
	require.NoError(b, err)
	defer j.Close()
	for i := range ids {
		fillID(b, j, fmt.Sprint("id-", i), events)
	}
	compare := func(b *testing.B, db *sql.DB, h projection.Handler[event], inLoop func(*sql.Tx, projection.Event[event]) error) {
		n := 0
		storebench.TakeTurns(b, ids*events,
			func() error {
				n++ // another name begins again
				_, err := projection.New(fmt.Sprint("projection-", n), j, journal.Query{}, h).CatchUp(b.Context())
				return err
			},
			func() error { return readAndCommit(b.Context(), j, db, fmt.Sprint("loop-", n), inLoop) },
		).Beside(b, "events/s")
	}
	b.Run("in-transaction", func(b *testing.B) {
		db := benchmarkModel(b)
		compare(b, db, projection.InTx(db, addUp), func(tx *sql.Tx, e projection.Event[event]) error { return addUp(b.Context(), tx, e) })
	})
	b.Run("at-least-once", func(b *testing.B) {
		db, sum := benchmarkModel(b), map[string]int{}
		h := projection.AtLeastOnce(projection.NewSQLOffsets(db), func(_ context.Context, e projection.Event[event]) error {
			sum[e.ID]++
			return nil
		})
		compare(b, db, h, func(_ *sql.Tx, e projection.Event[event]) error {
			sum[e.ID]++
			return nil
		})
	})
}

// readAndCommit handles the events by hundreds, each in a transaction with the offset.
func readAndCommit(ctx context.Context, r journal.EventReader, db *sql.DB, name string, handle func(*sql.Tx, projection.Event[event]) error) error {
	var batch []journal.Entry
	commit := func() error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		for _, entry := range batch {
			if err := handle(tx, projection.Event[event]{ID: entry.ID, Event: added{1}}); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO projection_offset (name, pos) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET pos = $2",
			name, string(batch[len(batch)-1].Offset))
		batch = batch[:0]
		return errors.Join(err, tx.Commit())
	}
	for entry, err := range r.Events(ctx, journal.Query{}, "") {
		if err != nil {
			return err
		}
		if batch = append(batch, entry); len(batch) == 100 {
			if err := commit(); err != nil {
				return err
			}
		}
	}
	return nil
}

func benchmarkModel(b *testing.B) *sql.DB {
	db, err := openModel(b.TempDir())
	require.NoError(b, err)
	b.Cleanup(func() { _ = db.Close() })
	return db
}

func addBare(ctx context.Context, db *sql.DB, n int) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for i := range n {
		e := projection.Event[event]{ID: fmt.Sprint("id-", i), Event: added{1}}
		if err := addUp(ctx, tx, e); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func fillID(b *testing.B, j persistence.Journal, id string, n int) {
	w := newWriter(b, j, id)
	events := make([]any, n)
	for i := range events {
		events[i] = added{i}
	}
	w.append(events...)
}
