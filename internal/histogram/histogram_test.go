package histogram

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDurationsAreCountedByTheirBucket(t *testing.T) {
	var h Histogram
	all := []time.Duration{-time.Second, 0, 1, 1 << 10, 1<<10 + 1, 1 << 11, 1<<11 + 1, time.Millisecond, time.Second, 1 << 34, 1<<34 + 1, math.MaxInt64 / 2}
	for _, d := range all {
		h.Observe(d)
	}
	s := h.Read()
	require.Equal(t, uint64(len(all)), s.Count)
	for _, c := range []struct {
		bound time.Duration
		want  uint64
	}{{0, 0}, {1<<10 - 1, 0}, {1 << 10, 4}, {1 << 11, 6}, {1<<11 + 1, 6}, {1 << 12, 7}, {1 << 20, 8}, {1 << 30, 9}, {1 << 34, 10}, {math.MaxInt64, 10}} {
		require.Equal(t, c.want, s.AtMost(c.bound), "%d", c.bound)
	}
}

func TestHistogramsAdd(t *testing.T) {
	var a, b Histogram
	a.Observe(time.Millisecond)
	b.ObserveTimes(time.Second, 3)
	s := a.Read()
	s.Add(b.Read())
	require.Equal(t, uint64(4), s.Count)
	require.Equal(t, 3*time.Second+time.Millisecond, s.Sum)
	require.Equal(t, uint64(1), s.AtMost(1<<20))
	require.Equal(t, uint64(4), s.AtMost(1<<30))
}

func TestAQuantileIsTheEndOfItsBucket(t *testing.T) {
	var h Histogram
	require.Zero(t, h.Read().Quantile(0.99))
	h.ObserveTimes(time.Microsecond, 90)
	h.ObserveTimes(time.Millisecond, 9)
	h.Observe(time.Hour)
	s := h.Read()
	for q, want := range map[float64]time.Duration{0: 1 << 10, 0.5: 1 << 10, 0.9: 1 << 10, 0.91: 1 << 20, 0.99: 1 << 20, 1: 1 << 35} {
		require.Equal(t, want, s.Quantile(q), "%v", q)
	}
}
