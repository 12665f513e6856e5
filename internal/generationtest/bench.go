package generationtest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/singleton/generation"
)

// Benchmark measures claims of terms: by one caller; by eight at once; by eight at once, through
// two sources over the same store, as open returns them; and lists of a thousand records. Labels
// are named after b.
func Benchmark(b *testing.B, open func(b *testing.B) generation.Source) {
	s := open(b)
	b.Run("one", func(b *testing.B) {
		for b.Loop() {
			_, err := s.ClaimTerm(b.Context(), b.Name(), "node", 0)
			require.NoError(b, err)
		}
		perSecond(b)
	})
	b.Run("eight", func(b *testing.B) { eight(b, s, s) })
	b.Run("eight of two nodes", func(b *testing.B) { eight(b, s, open(b)) })
	b.Run("list of a thousand", func(b *testing.B) {
		for i := range 1000 {
			require.NoError(b, s.PutSpec(b.Context(), fmt.Sprint(b.Name(), i), []byte("spec")))
		}
		other := open(b)
		for b.Loop() {
			records, err := other.List(b.Context())
			require.NoError(b, err)
			require.GreaterOrEqual(b, len(records), 1000)
		}
	})
}

func eight(b *testing.B, sources ...generation.Source) {
	var left atomic.Int64
	left.Store(int64(b.N))
	var all sync.WaitGroup
	b.ResetTimer()
	for i := range 8 {
		label, s := fmt.Sprint(b.Name(), i), sources[i%len(sources)]
		all.Go(func() {
			for left.Add(-1) >= 0 {
				if _, err := s.ClaimTerm(b.Context(), label, "node", 0); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	perSecond(b)
}

func perSecond(b *testing.B) {
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "claims/s")
}
