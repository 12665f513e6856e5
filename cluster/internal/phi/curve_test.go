package phi

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSuspicionHasTheReferenceValues(t *testing.T) {
	for _, tt := range []struct{ silence, want float64 }{
		{500, 0.0}, {1000, 0.3}, {1200, 1.6}, {1400, 4.7}, {1600, 10.8}, {1700, 15.4},
	} {
		require.InDelta(t, tt.want, suspicion((tt.silence-1000)/100), 0.05, "after %v", tt.silence)
	}
}

func TestSuspicionIsFiniteForOutliers(t *testing.T) {
	require.InDelta(t, 38, suspicion(10), 1)
	require.Zero(t, suspicion(-25))
	for _, y := range []float64{-1e6, -100, 100, 1e6, 1e90} {
		require.False(t, math.IsInf(suspicion(y), 0) || math.IsNaN(suspicion(y)), "y=%v", y)
	}
}

func TestSuspicionGrowsWithSilence(t *testing.T) {
	for y := -9.0; y < 60; y += 0.01 {
		require.Less(t, suspicion(y), suspicion(y+0.01), "y=%v", y)
	}
}

func TestDeviationsInvertsSuspicion(t *testing.T) {
	for phi, want := range map[float64]float64{1: 1.28, 3: 3.06, 5: 4.12, 8: 5.23, 10: 5.80, 12: 6.29, 16: 7.12} {
		require.InDelta(t, want, deviations(phi), 0.01, "phi %v", phi)
	}
	require.InDelta(t, 1e5, suspicion(deviations(1e5)), 1e-3)
}
