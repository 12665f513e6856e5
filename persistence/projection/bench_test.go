package projection_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/projection"
	"github.com/understudy-go/understudy/persistence/sqlite"
)

// BenchmarkProjection measures the events per second of projections of 5,000 events in an
// SQLite journal: one that only reads, one that adds up in memory, and one that does so in
// a table, in transactions of a hundred. "bare" is what the table costs by itself: the same
// statements in the same transactions.
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
		for _, err := range j.Events(b.Context(), persistence.Query{}, "") {
			require.NoError(b, err)
		}
	})
	measure("memory", func(b *testing.B) {
		sum := map[string]int{}
		p := projection.New("sums", j, persistence.Query{}, projection.AtLeastOnce(&projection.MemoryOffsets{},
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

// benchmarkModel returns a new database.
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

// fillID appends n events to id.
func fillID(b *testing.B, j persistence.Journal, id string, n int) {
	w := newWriter(b, j, id)
	events := make([]any, n)
	for i := range events {
		events[i] = added{i}
	}
	w.append(events...)
}
