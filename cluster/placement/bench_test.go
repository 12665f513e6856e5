//go:build !race

package placement_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster"
	"github.com/understudy-go/understudy/cluster/placement"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/sqlite"
	"github.com/understudy-go/understudy/testkit/clustertest"
)

// onJournals runs a benchmark on the journals of the root module.
func onJournals(b *testing.B, run func(b *testing.B, journal persistence.Journal)) {
	b.Helper()
	b.Run("memory", func(b *testing.B) { run(b, journal.NewMemory()) })
	b.Run("sqlite", func(b *testing.B) {
		journal, err := sqlite.Open(filepath.Join(b.TempDir(), "journal.db"))
		require.NoError(b, err)
		b.Cleanup(func() { require.NoError(b, journal.Close()) })
		run(b, journal)
	})
}

// yard starts three nodes with placement, in real time on an in-memory network.
func yard(b *testing.B, journal persistence.Journal, strategy placement.Strategy) (*clustertest.Cluster, *placement.Coordinator) {
	b.Helper()
	c := clustertest.Start(b, 3, clustertest.WithJournal(journal))
	var first *placement.Coordinator
	for i, n := range c.Nodes() {
		client, err := placement.Start(n, placement.Config{Factories: kinds, Strategy: strategy, RemovalMargin: -1})
		require.NoError(b, err)
		if i == 0 {
			first = client
		}
	}
	await(b, func() bool {
		v, err := first.View(b.Context())
		return err == nil && len(v.Alive()) == 3
	})
	return c, first
}

// await polls until the condition holds, in real time, because a benchmark cannot run in a bubble.
func await(b *testing.B, is func() bool) {
	b.Helper()
	for end := time.Now().Add(time.Minute); !is(); {
		require.True(b, time.Now().Before(end), "not within a minute")
		time.Sleep(time.Millisecond)
	}
}

// BenchmarkSubmit measures submissions one after the other, each until it is in the journal. The
// actors start meanwhile, on three nodes.
func BenchmarkSubmit(b *testing.B) {
	onJournals(b, func(b *testing.B, journal persistence.Journal) {
		_, client := yard(b, journal, placement.LeastLoaded())
		i := 0
		for b.Loop() {
			_, err := client.Submit(b.Context(), counters.Spec(fmt.Sprintf("spec-%d", i), origin{Plan: b.Name()}))
			require.NoError(b, err)
			i++
		}
		b.ReportMetric(float64(i)/b.Elapsed().Seconds(), "submissions/s")
	})
}

// BenchmarkReplacement measures the crash of a node that runs a thousand actors: the time from its
// removal until all of them run elsewhere. Failure detection is not counted.
func BenchmarkReplacement(b *testing.B) {
	const specs = 1000
	onJournals(b, func(b *testing.B, journal persistence.Journal) {
		c, client := yard(b, journal, placement.Pinned("n3"))
		for i := range specs {
			_, err := client.Submit(b.Context(), counters.Spec(fmt.Sprintf("spec-%04d", i), origin{Plan: b.Name()}))
			require.NoError(b, err)
		}
		all := func() bool {
			v, err := client.View(b.Context())
			_, crashed := v.Node("n3")
			return err == nil && !crashed && running(b, client) == specs
		}
		await(b, func() bool { return running(b, client) == specs })
		v, err := client.View(b.Context())
		require.NoError(b, err)
		crashing, _ := v.Node("n3")
		var took time.Duration
		for again := true; b.Loop(); again = false {
			if !again {
				continue // there is one node to crash
			}
			events := c.Node("n1").Events(b.Context())
			c.Crash("n3")
			for e := range events {
				if _, removed := e.(cluster.MemberRemoved); removed {
					break
				}
			}
			began := time.Now()
			await(b, all)
			took = time.Since(began)
		}
		b.ReportMetric(float64(took.Milliseconds()), "ms")
		b.ReportMetric(float64(len(crashing.Actors)), "actors")
	})
}

// running returns how many specs run.
func running(b *testing.B, client *placement.Coordinator) (n int) {
	specs, err := client.Specs(b.Context())
	require.NoError(b, err)
	for _, s := range specs {
		if s.State == placement.Running {
			n++
		}
	}
	return n
}
