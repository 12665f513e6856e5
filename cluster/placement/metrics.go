package placement

import (
	"sync/atomic"

	"github.com/understudy-go/understudy/actor/telemetry"
)

// A counted holds the numbers of the coordinator while it runs on this node; nil while it does not.
type counted struct{ atomic.Pointer[counts] }

// families is a [telemetry.Source].
func (c *counted) families() []telemetry.Family {
	specs := telemetry.NewGauge("understudy_placement_specs", "Specs by the state of their actor; told by the node with the coordinator.", "state")
	moves := telemetry.NewCounter("understudy_placement_moves_total", "Placed actors that had to be started anew, by cause, since this coordinator began.", "cause")
	failures := telemetry.NewCounter("understudy_placement_start_failures_total", "Starts of placed actors that have failed, since this coordinator began.")
	if now := c.Load(); now != nil {
		for _, s := range states {
			specs.Add(float64(now.Specs[s]), string(s))
		}
		for _, cause := range causes {
			moves.Add(float64(now.Moves[cause]), string(cause))
		}
		failures.Add(float64(now.StartFailures))
	}
	return []telemetry.Family{specs, moves, failures}
}
