package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAResourceInUseAllTheTimeLimitsTheThroughput(t *testing.T) {
	r := resource{held: 10, every: 1, think: 90}
	require.InEpsilon(t, float64(time.Second)/100, r.throughput(1), 0.1)
	require.InEpsilon(t, float64(time.Second)/10, r.throughput(50), 0.05)
	require.InDelta(t, 10, r.scalesTo(), 4)
}

func TestWhatIsUsedRarelyScalesFurther(t *testing.T) {
	each := resource{held: 10, every: 1, think: 90, transfer: 40}
	seldom := each
	seldom.every = 16
	require.Greater(t, seldom.scalesTo(), 10*each.scalesTo())
}
