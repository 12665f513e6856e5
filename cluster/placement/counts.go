package placement

import (
	"sync/atomic"

	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/internal/home/shell"
	"github.com/understudy-go/understudy/internal/extension"
)

// A cause is why an actor has to be started anew.
type cause = home.Cause

// The causes.
const (
	nodeLost         = home.NodeLost
	drained    cause = "drain"      // its node is being drained
	colocation cause = "colocation" // the actor that it belongs beside is on another node
	endedAlone       = home.EndedAlone

	// anchored is the cause of a singleton whose anchor is on another node; specs have none.
	anchored cause = "anchor"
)

// states and Causes are all states and causes of specs, in a fixed order.
var (
	states = []State{Running, Pending, WaitingForReturn, Unplaced}
	causes = []cause{nodeLost, drained, colocation, endedAlone}
)

// counts are what a planner counts for the metrics.
type counts struct {
	Specs         map[State]int
	Moves         map[cause]uint64
	StartFailures uint64
}

// Counts returns how many specs are in each state, and what has happened since the planner began.
func (m *planner) Counts() counts {
	c := counts{Specs: map[State]int{}, Moves: map[cause]uint64{}, StartFailures: m.specs.startFailures}
	for _, s := range states {
		c.Specs[s] = m.specs.inState[s]
	}
	for _, cause := range causes {
		c.Moves[cause] = m.specs.moves[cause]
	}
	return c
}

// cause returns why a review stops the actor of an item, that it may be placed elsewhere; "" if it
// may stay.
func (it *item) cause(s *specs) cause {
	switch {
	case it.misplaced(s.nodes):
		return colocation
	case s.mayDrain(it):
		return drained
	}
	return ""
}

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

// moved reports a move that is over.
func (c *coordinator) moved(m home.Moved) {
	shell.ReportMove(c.Ctx, c.Ctx.System(), shell.Noun{Span: "placement", History: "placed actor"}, m,
		extension.Detail{Name: "placement.spec", Value: m.Label}, extension.Detail{Name: "placement.instance", Value: m.Request.String()})
}
