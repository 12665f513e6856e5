package placement

import (
	"fmt"
	"time"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/internal/deadlines"
)

// A plannerConfig has the settings of a [planner]. Every field but SourceTimeout is required.
type plannerConfig struct {
	home.Config
	Strategy      Strategy
	Election      election
	SourceTimeout time.Duration // how long a source of terms may take; 0: the planner issues them itself
}

// A planner decides what the coordinator does. It is pure: it starts no goroutine, reads no clock
// and does no I/O.
//
// It takes inputs, each with the current time, and returns facts and effects. The shell
// stores the facts in the journal, and then carries out the effects. What is known of the nodes and
// of the actors on them is in package home. The planner has two workloads: specs
// keeps the actor of each [Spec] running on one node; singletons keeps each [SingletonSpec] at its
// [Anchor], with generations from a source. After each input the workloads compare the desired
// state with the known state, and act on the differences. The order of inputs therefore does not
// matter, and inputs may be repeated.
type planner struct {
	nodes      *home.Nodes
	specs      *specs
	singletons *singletons
}

// newPlanner returns an empty planner. The caller first replays the ledger of the journal, and then
// calls Step with home.Recovered.
func newPlanner(cfg plannerConfig) *planner {
	f := home.New(cfg.Config)
	m := &planner{nodes: f}
	m.singletons = newSingletons(cfg, f)
	m.specs = newSpecs(cfg, f, m.singletons.Owns)
	m.singletons.isSpec = m.specs.Owns
	f.Add(m.specs)
	f.Add(m.singletons)
	return m
}

// Step handles an input. The caller must store the facts before it carries out the effects.
func (m *planner) Step(in home.Input, now time.Time) ([]home.Fact, []home.Effect) {
	m.nodes.Step(in, now)
	m.specs.store()
	m.singletons.store()
	return m.nodes.Facts(), m.nodes.Take()
}

// Next returns when a home.Tick is due.
func (m *planner) Next() (time.Time, bool) {
	var e deadlines.Earliest
	e.Add(m.nodes.Next())
	for _, in := range m.specs.held {
		s, _ := in.(submit)
		e.Add(s.until, !s.until.IsZero())
	}
	return e.At, e.OK
}

// View returns the cluster as the planner knows it.
func (m *planner) View() home.View { return m.nodes.View() }

// Statuses returns the status of all specs, sorted by label.
func (m *planner) Statuses() []Status { return m.specs.statuses() }

// Explain says why an actor is where it is. It returns [ErrNotFound] if there is no such spec.
func (m *planner) Explain(label string) (Explanation, error) { return m.specs.explain(label) }

// ownership returns where a singleton is. It returns false if no singleton has that label.
func (m *planner) ownership(label string) (Ownership, bool) { return m.singletons.ownership(label) }

// OwnershipOf returns where a singleton is, or [ErrNotFound].
func (m *planner) OwnershipOf(label string) (Ownership, error) {
	if o, ok := m.ownership(label); ok {
		return o, nil
	}
	return Ownership{}, fmt.Errorf("%w: %q", ErrNotFound, label)
}
