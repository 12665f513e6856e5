package plan

import (
	"fmt"
	"time"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/internal/deadlines"
)

// A Config has the settings of a [Planner]. Every field but SourceTimeout is required.
type Config struct {
	home.Config
	Strategy      Strategy
	Election      Election
	SourceTimeout time.Duration // how long a source of terms may take; 0: the planner issues them itself
}

// A Planner decides everything that the coordinator does; see the package documentation.
type Planner struct {
	nodes      *home.Nodes
	specs      *specs
	singletons *singletons
}

// New returns an empty planner. The caller first replays the ledger of the journal, and then calls
// Step with home.Recovered.
func New(cfg Config) *Planner {
	f := home.New(cfg.Config)
	m := &Planner{nodes: f}
	m.singletons = newSingletons(cfg, f)
	m.specs = newSpecs(cfg, f, m.singletons.Owns)
	m.singletons.isSpec = m.specs.Owns
	f.Add(m.specs)
	f.Add(m.singletons)
	return m
}

// Step handles an input. The caller must store the facts before it carries out the effects.
func (m *Planner) Step(in home.Input, now time.Time) ([]home.Fact, []home.Effect) {
	m.nodes.Step(in, now)
	m.specs.store()
	m.singletons.store()
	return m.nodes.Facts(), m.nodes.Take()
}

// Next returns when a home.Tick is due.
func (m *Planner) Next() (time.Time, bool) {
	var e deadlines.Earliest
	e.Add(m.nodes.Next())
	for _, in := range m.specs.held {
		s, _ := in.(Submit)
		e.Add(s.until, !s.until.IsZero())
	}
	return e.At, e.OK
}

// View returns the cluster as the planner knows it.
func (m *Planner) View() home.View { return m.nodes.View() }

// Statuses returns the status of all specs, sorted by label.
func (m *Planner) Statuses() []Status { return m.specs.statuses() }

// Explain says why an actor is where it is. It returns [ErrNotFound] if there is no such spec.
func (m *Planner) Explain(label string) (Explanation, error) { return m.specs.explain(label) }

// ownership returns where a singleton is. It returns false if no singleton has that label.
func (m *Planner) ownership(label string) (Ownership, bool) { return m.singletons.ownership(label) }

// OwnershipOf returns where a singleton is, or [ErrNotFound].
func (m *Planner) OwnershipOf(label string) (Ownership, error) {
	if o, ok := m.ownership(label); ok {
		return o, nil
	}
	return Ownership{}, fmt.Errorf("%w: %q", ErrNotFound, label)
}
