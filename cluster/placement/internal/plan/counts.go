package plan

import "github.com/understudy-go/understudy/cluster/internal/home"

// A Cause is why an actor has to be started anew.
type Cause = home.Cause

// The causes.
const (
	NodeLost         = home.NodeLost
	Drained    Cause = "drain"      // its node is being drained
	Colocation Cause = "colocation" // the actor that it belongs beside is on another node
	EndedAlone       = home.EndedAlone

	// Anchored is the cause of a singleton whose anchor is on another node; specs have none.
	Anchored Cause = "anchor"
)

// States and Causes are all states and causes of specs, in a fixed order.
var (
	States = []State{Running, Pending, WaitingForReturn, Unplaced}
	Causes = []Cause{NodeLost, Drained, Colocation, EndedAlone}
)

// Counts are what a planner counts for the metrics.
type Counts struct {
	Specs         map[State]int
	Moves         map[Cause]uint64
	StartFailures uint64
}

// Counts returns how many specs are in each state, and what has happened since the planner began.
func (m *Planner) Counts() Counts {
	c := Counts{Specs: map[State]int{}, Moves: map[Cause]uint64{}, StartFailures: m.specs.startFailures}
	for _, s := range States {
		c.Specs[s] = m.specs.inState[s]
	}
	for _, cause := range Causes {
		c.Moves[cause] = m.specs.moves[cause]
	}
	return c
}

// cause returns why a review stops the actor of an item, that it may be placed elsewhere; "" if it
// may stay.
func (it *item) cause(s *specs) Cause {
	switch {
	case it.misplaced(s.nodes):
		return Colocation
	case s.mayDrain(it):
		return Drained
	}
	return ""
}
