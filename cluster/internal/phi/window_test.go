package phi

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func milliseconds(w *window, values ...int) {
	for _, v := range values {
		w.add(time.Duration(v) * time.Millisecond)
	}
}

// requireStats compares in milliseconds, the unit of the reference values.
func requireStats(t *testing.T, w *window, mean, variance float64) {
	t.Helper()
	require.InDelta(t, mean, w.mean()/1e3, 0.01)
	require.InDelta(t, variance, w.variance()/1e6, 0.01)
}

func TestWindowHasMeanAndVarianceOfItsSamples(t *testing.T) {
	w := newWindow(20)
	requireStats(t, &w, 0, 0)
	milliseconds(&w, 100, 200, 125, 340, 130)
	requireStats(t, &w, 179, 7584)
}

func TestWindowForgetsTheOldestSample(t *testing.T) {
	w := newWindow(3)
	milliseconds(&w, 100, 110, 90)
	requireStats(t, &w, 100, 66.67)
	milliseconds(&w, 140)
	requireStats(t, &w, 113.33, 422.22)
	milliseconds(&w, 80)
	requireStats(t, &w, 103.33, 688.89)
}

func TestWindowStaysExactForEver(t *testing.T) {
	w, fresh := newWindow(1000), newWindow(1000)
	random := rand.New(rand.NewPCG(1, 2))
	last := make([]time.Duration, 0, 1000)
	for i := range 200_000 {
		v := time.Duration(random.Int64N(int64(2 * time.Minute)))
		w.add(v)
		if i >= 199_000 {
			last = append(last, v)
		}
	}
	for _, v := range last {
		fresh.add(v)
	}
	require.Equal(t, fresh.sum, w.sum)
	require.Equal(t, fresh.sq, w.sq)
}
