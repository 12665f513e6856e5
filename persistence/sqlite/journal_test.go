package sqlite

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/journaltest"
)

func TestJournalObeysTheLaws(t *testing.T) {
	journaltest.Run(t, func(t *testing.T) journal.Journal { return openTest(t) }, features)
}

// features are all there are.
var features = journaltest.Features{
	Skipped:    "AStoreWithoutTimersRefusesThem: *sqlite.Journal is a timer store",
	MaxPayload: MaxPayload,
	Reopen: func(t *testing.T, j journal.Journal) journal.Journal {
		require.NoError(t, j.Close())
		return openPath(t, pathOf(j))
	},
	SecondHandle: func(t *testing.T, j journal.Journal) journal.Journal { return openPath(t, pathOf(j)) },
	DamageRecord: func(t *testing.T, j journal.Journal, id string, seq uint64) {
		alter(t, pathOf(j), "UPDATE event SET payload = zeroblob(length(payload)) WHERE "+whereID, id, seq)
	},
	DropRecord: func(t *testing.T, j journal.Journal, id string, seq uint64) {
		alter(t, pathOf(j), "DELETE FROM event WHERE "+whereID, id, seq)
	},
	DamageSnapshot: func(t *testing.T, j journal.Journal, id string, seq uint64) {
		alter(t, pathOf(j), "UPDATE snapshot SET payload = zeroblob(length(payload)) WHERE "+whereID, id, seq)
	},
	DamageReader: func(t *testing.T, j journal.Journal, name string) {
		alter(t, pathOf(j), "UPDATE reader SET ord = ord | 4 WHERE name = ?", name)
	},
	Stall: func(t *testing.T, j journal.Journal) func() {
		lock, err := openFairLock(pathOf(j), config{})
		require.NoError(t, err)
		require.NoError(t, lock.lock(t.Context()))
		return func() { require.NoError(t, lock.close()) }
	},
	Files: func(_ *testing.T, j journal.Journal) []string {
		return []string{pathOf(j), pathOf(j) + "-wal", pathOf(j) + "-shm"}
	},
	Fill: func(t *testing.T, j journal.Journal) func() {
		limitPages(t, j, 1) // SQLite makes it the size that the file has
		return func() { limitPages(t, j, 1<<30) }
	},
}

const whereID = "eid = (SELECT id FROM entity WHERE pid = ?) AND seq = ?"

func openTest(t testing.TB, opts ...Option) *Journal {
	t.Helper()
	return openPath(t, filepath.Join(t.TempDir(), "journal.db"), opts...)
}

func openPath(t testing.TB, path string, opts ...Option) *Journal {
	t.Helper()
	j, err := Open(path, opts...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, j.Close()) })
	return j
}

func pathOf(j journal.Journal) string { return j.(*Journal).writer.path }

// alter changes the database as no journal would.
func alter(t testing.TB, path, statement string, args ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", dsn(path))
	require.NoError(t, err)
	defer db.Close()
	_, err = db.Exec(statement, args...)
	require.NoError(t, err)
}

func limitPages(t *testing.T, j journal.Journal, n int) {
	t.Helper()
	_, err := j.(*Journal).writer.conn.ExecContext(t.Context(), fmt.Sprintf("PRAGMA max_page_count=%d", n))
	require.NoError(t, err)
}
