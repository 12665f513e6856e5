package membership

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The simulation measures the detection times that the settings promise.
func TestExpectedDetectionIsTheMeasuredOne(t *testing.T) {
	for _, set := range []Detector{LAN(), WAN(), Local()} {
		usual, worst := DetectionTimes(set)
		all := detections(set, allConditions()[0], 200)
		require.InDelta(t, usual.Seconds(), all[len(all)/2].Seconds(), set.Interval.Seconds()/4)
		require.LessOrEqual(t, all[len(all)-1], worst+10*time.Millisecond, "but for a spike on the way")
	}
}
