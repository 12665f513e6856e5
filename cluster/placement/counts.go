package placement

import "github.com/understudy-go/understudy/cluster/internal/home"

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
