package memory_test

import (
	_ "embed"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/journaltest"
	"github.com/understudy-go/understudy/persistence/memory"
)

//go:embed testdata/skipped.txt
var skipped string

func TestJournalObeysTheLaws(t *testing.T) {
	journaltest.Run(t, func(*testing.T) journal.Journal { return memory.New() }, journaltest.Features{Skipped: skipped})
}

func BenchmarkAppend(b *testing.B) {
	journaltest.BenchmarkAppend(b, func(*testing.B) journal.Journal { return memory.New() })
}

func BenchmarkReplay(b *testing.B) {
	journaltest.BenchmarkReplay(b, func(*testing.B) journal.Journal { return memory.New() })
}

func BenchmarkEvents(b *testing.B) {
	journaltest.BenchmarkEvents(b, func(*testing.B) journal.Journal { return memory.New() })
}

// A bubble ends only when all of its goroutines have.
func TestJournalStartsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := memory.New().Claim(t.Context(), "x", journal.WriterID{}, journal.Bounds{})
		require.NoError(t, err)
	})
}
