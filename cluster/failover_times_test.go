package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/downing"
)

func TestExpectationsOfThePresets(t *testing.T) {
	for _, want := range []struct {
		set                                                 Detector
		usual, worst, down, failover, unfenced, stableAfter float64 // in seconds
	}{
		{LAN(), 0.780, 0.855, 3.905, 4.105, 17.105, 3},
		{WAN(), 3.823, 4.123, 12.223, 13.223, 31.223, 8},
		{Local(), 0.642, 0.680, 3.705, 3.805, 16.805, 3},
	} {
		c := Config{Detector: want.set}
		e := c.Expected()
		require.InDelta(t, want.stableAfter, c.withDefaults().Downing.Delay().Seconds(), 0)
		require.InDelta(t, want.usual, e.Detection.Seconds(), 0.001)
		require.InDelta(t, want.worst, e.WorstDetection.Seconds(), 0.001)
		require.InDelta(t, want.down, e.Downing.Seconds(), 0.001)
		require.InDelta(t, want.failover, e.FailoverFenced.Seconds(), 0.001)
		require.InDelta(t, want.unfenced, e.FailoverUnfenced.Seconds(), 0.001)
		require.NoError(t, c.withDefaults().validate())
	}
}

func TestAStrategyMustWaitUntilAllCanKnow(t *testing.T) {
	c := Config{Downing: downing.KeepMajority{StableAfter: 450 * time.Millisecond}}
	err := c.withDefaults().validate()
	require.ErrorContains(t, err, "members may learn of one failure 450ms apart; let it wait for 3s (StableAfter)")
	c.Downing = downing.KeepMajority{StableAfter: 500 * time.Millisecond}
	require.NoError(t, c.withDefaults().validate())
	c.Detector = WAN()
	require.ErrorContains(t, c.withDefaults().validate(), "2.1s apart; let it wait for 8s")
	c.Downing = downing.Manual{}
	require.NoError(t, c.withDefaults().validate(), "who never decides need not wait")
}
