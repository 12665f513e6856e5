package journal_test

import (
	_ "embed"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/journaltest"
)

//go:embed testdata/skipped.txt
var skipped string

func TestJournalObeysTheLaws(t *testing.T) {
	journaltest.Run(t, func(*testing.T) journal.Journal { return journal.NewMemory() }, journaltest.Features{Skipped: skipped})
}

func BenchmarkAppend(b *testing.B) {
	journaltest.BenchmarkAppend(b, func(*testing.B) journal.Journal { return journal.NewMemory() })
}

func BenchmarkReplay(b *testing.B) {
	journaltest.BenchmarkReplay(b, func(*testing.B) journal.Journal { return journal.NewMemory() })
}

func BenchmarkEvents(b *testing.B) {
	journaltest.BenchmarkEvents(b, func(*testing.B) journal.Journal { return journal.NewMemory() })
}

// A bubble ends only when all of its goroutines have.
func TestJournalStartsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := journal.NewMemory().Claim(t.Context(), "x", journal.WriterID{}, journal.Bounds{})
		require.NoError(t, err)
	})
}
