package generations_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/generations"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/sqlite"
	"github.com/understudy-go/understudy/singleton/generation"
)

// BenchmarkManySingletons claims a term for each of 10,000 singletons in one log, 64 at once. It
// reports the time of one claim in four situations: while the log knows few singletons; while it
// knows nearly all of them; when another node takes all of them over; and when two nodes take half
// of them each. The figures show that a claim does not get slower with the number of singletons.
func BenchmarkManySingletons(b *testing.B) {
	journals := map[string]func(b *testing.B) journal.Journal{
		"memory": func(*testing.B) journal.Journal { return journal.NewMemory() },
		"sqlite": func(b *testing.B) journal.Journal {
			j, err := sqlite.Open(filepath.Join(b.TempDir(), "journal.db"))
			require.NoError(b, err)
			b.Cleanup(func() { require.NoError(b, j.Close()) })
			return j
		},
	}
	for name, open := range journals {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				claimMany(b, open(b))
			}
		})
	}
}

func claimMany(b *testing.B, j journal.Journal) {
	b.Helper()
	const many, few = 10_000, 1_000
	first, second, third := generations.NewJournal(j), generations.NewJournal(j), generations.NewJournal(j)
	for _, phase := range []struct {
		name     string
		from, to int
		sources  []generation.Source
		reported bool
	}{
		{"few", 0, few, []generation.Source{first}, true},
		{"", few, many - few, []generation.Source{first}, false},
		{"nearly-all", many - few, many, []generation.Source{first}, true},
		{"failover", 0, many, []generation.Source{second}, true},
		{"failover-to-two", 0, many, []generation.Source{first, third}, true},
	} {
		took := claimAll(b, phase.sources, phase.from, phase.to)
		if phase.reported {
			b.ReportMetric(took.Seconds()*1e6/float64(phase.to-phase.from), "µs/"+phase.name)
		}
	}
}

// claimAll claims a term of each singleton from one number to another, 64 at once at each of the
// sources.
func claimAll(b *testing.B, sources []generation.Source, from, to int) time.Duration {
	b.Helper()
	began := time.Now()
	var next atomic.Int64
	next.Store(int64(from))
	var all sync.WaitGroup
	for caller := range 64 * len(sources) {
		all.Go(func() {
			for i := next.Add(1) - 1; i < int64(to); i = next.Add(1) - 1 {
				if _, err := sources[caller%len(sources)].ClaimTerm(b.Context(), fmt.Sprint("singleton/", i), "node", 0); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	return time.Since(began)
}
