package generations_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/generationtest"
	"github.com/understudy-go/understudy/persistence/generations"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/sqlite"
	"github.com/understudy-go/understudy/singleton/generation"
)

func TestMemory(t *testing.T) {
	generationtest.Run(t, func(*testing.T) generationtest.Backend {
		m := generations.NewMemory()
		return generationtest.Backend{
			Open: func(*testing.T) generation.Source { return m },
			Advance: func(t *testing.T, label string, g generation.Generation) {
				require.NoError(t, m.Advance(t.Context(), label, g))
			},
		}
	})
}

func TestJournalInMemory(t *testing.T) {
	generationtest.Run(t, func(*testing.T) generationtest.Backend {
		j := journal.NewMemory()
		return onJournal(func(*testing.T) journal.Journal { return j }, generations.NewJournal)
	})
}

// No entry is lost although entries are moved and deleted all the time.
func TestJournalThatIsTidiedAllTheTime(t *testing.T) {
	generationtest.Run(t, func(*testing.T) generationtest.Backend {
		j := journal.NewMemory()
		return onJournal(func(*testing.T) journal.Journal { return j }, func(j journal.Journal) *generations.Journal {
			return generations.NewTidyJournal(j, 0)
		})
	})
}

func TestJournalInSQLite(t *testing.T) {
	generationtest.Run(t, func(t *testing.T) generationtest.Backend {
		path := filepath.Join(t.TempDir(), "journal.db")
		b := onJournal(func(t *testing.T) journal.Journal { return openSQLite(t, path) }, generations.NewJournal)
		b.Restart = func(*testing.T) {} // each has opened the file for itself
		return b
	})
}

func onJournal(open func(t *testing.T) journal.Journal, source func(journal.Journal) *generations.Journal) generationtest.Backend {
	return generationtest.Backend{
		Open: func(t *testing.T) generation.Source { return source(open(t)) },
		Advance: func(t *testing.T, label string, g generation.Generation) {
			require.NoError(t, source(open(t)).Advance(t.Context(), label, g))
		},
	}
}

func openSQLite(t testing.TB, path string) *sqlite.Journal {
	t.Helper()
	j, err := sqlite.Open(path, sqlite.ProcessSafe()) // no machine is harmed
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, j.Close()) })
	return j
}

func TestAKilledProcessLeavesTheOldOrTheNew(t *testing.T) {
	generationtest.Killed(t,
		func() string { return filepath.Join(t.TempDir(), "journal.db") },
		func(t *testing.T, path string) generation.Source {
			return generations.NewTidyJournal(openSQLite(t, path), 20)
		})
}

func BenchmarkMemory(b *testing.B) {
	m := generations.NewMemory()
	generationtest.Benchmark(b, func(*testing.B) generation.Source { return m })
}

func BenchmarkJournalInMemory(b *testing.B) {
	j := journal.NewMemory()
	generationtest.Benchmark(b, func(*testing.B) generation.Source { return generations.NewJournal(j) })
}

func BenchmarkJournalInSQLite(b *testing.B) {
	path := filepath.Join(b.TempDir(), "journal.db")
	generationtest.Benchmark(b, func(b *testing.B) generation.Source {
		j, err := sqlite.Open(path)
		require.NoError(b, err)
		b.Cleanup(func() { require.NoError(b, j.Close()) })
		return generations.NewJournal(j)
	})
}

// BenchmarkJournalIsRead measures the first call of a new coordinator: a new source lists 10,000
// singletons.
func BenchmarkJournalIsRead(b *testing.B) {
	j := openSQLite(b, filepath.Join(b.TempDir(), "journal.db"))
	var all sync.WaitGroup
	s := generations.NewJournal(j)
	for i := range 10_000 {
		all.Go(func() {
			if err := s.PutSpec(b.Context(), fmt.Sprint("singleton ", i), []byte("spec")); err != nil {
				b.Error(err)
			}
		})
	}
	all.Wait()
	for b.Loop() {
		records, err := generations.NewJournal(j).List(b.Context())
		require.NoError(b, err)
		require.Len(b, records, 10_000)
	}
}
