package placement

import (
	"fmt"
	"strings"
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

// The keys of records begin with the kind of their label: a singleton that has ended keeps its
// record, because terms only grow, and a spec may then have its label.
const (
	ofSpec      = "spec/"
	ofSingleton = "singleton/"
)

// Replay takes over the ledger of the journal, before any step.
func (m *planner) Replay(l home.Ledger) {
	m.nodes.Recall(l)
	m.specs.untouched = l.Untouched()
	for _, key := range m.nodes.Keys() {
		r, _ := m.nodes.Record(key)
		if label, is := strings.CutPrefix(key, ofSpec); is {
			m.specs.replay(label, r)
		}
	}
}

// Knows reports whether the journal knows, or has known as a singleton, what runs under a label.
func (m *planner) Knows(label string) bool {
	_, was := m.nodes.Record(ofSingleton + label)
	return was || m.specs.Owns(label) || m.singletons.Owns(label)
}

// submits reports whether f has a spec that is new to the journal.
func submits(f home.Fact) bool { return f.Record != nil && len(f.Record.Spec) > 0 }

type (
	submit struct {
		Token home.Token
		Spec  Spec
		until time.Time // when it is answered at the latest; zero before it was held for a node
	}
	remove struct {
		Token home.Token
		Label string
	}
	startSingleton struct {
		Token home.Token
		Spec  SingletonSpec
	}
	moveSingleton struct {
		Token home.Token
		Label string
	}
	stopSingleton struct {
		Token home.Token
		Label string
	}

	// termClaimed is the answer to a [claimTerm].
	termClaimed struct {
		Number uint64
		Term   uint64
		Err    error
	}

	// withdrawn: the journal rejects a fact with a spec, which the last step has accepted. No
	// request to start an actor of it has been sent.
	withdrawn struct{ fact home.Fact }
)

// tokenOf returns the token of a request.
func tokenOf(in home.Input) home.Token {
	switch in := in.(type) {
	case submit:
		return in.Token
	case remove:
		return in.Token
	case startSingleton:
		return in.Token
	case moveSingleton:
		return in.Token
	case stopSingleton:
		return in.Token
	}
	return 0
}

func (submit) IsInput()         {}
func (remove) IsInput()         {}
func (startSingleton) IsInput() {}
func (moveSingleton) IsInput()  {}
func (stopSingleton) IsInput()  {}
func (termClaimed) IsInput()    {}
func (withdrawn) IsInput()      {}

// claimTerm claims a term above the floor from the source of generations. A [termClaimed] of the
// same number is expected.
type claimTerm struct {
	Number uint64
	Label  string
	Owner  string
	Floor  uint64
}

// IsEffect implements [Effect].
func (claimTerm) IsEffect() {}

// Refused handles a fact that the journal rejects because of its content. The submission of a spec
// fails, and its spec is left out; see journaled.Refuser. No request to start it has been sent.
func (m *planner) Refused(f home.Fact, why error, effects []home.Effect, now time.Time) (facts []home.Fact, left []home.Effect, ok bool) {
	if !submits(f) {
		return nil, effects, false
	}
	_, label, _ := strings.Cut(f.Key, "/")
	why = fmt.Errorf("%w: the journal does not take %q: %w", ErrInvalid, label, why)
	for _, e := range effects {
		switch e := e.(type) {
		case home.Reply:
			if answers(e, label) {
				e.Value, e.Err = nil, why
			}
			left = append(left, e)
		case home.Send:
			if start, starts := e.Msg.(home.StartRequest); !starts || start.Label != label {
				left = append(left, e)
			}
		default:
			left = append(left, e)
		}
	}
	facts, more := m.Step(withdrawn{f}, now)
	return facts, append(left, more...), true
}

// answers reports whether r says where the actor of a label is.
func answers(r home.Reply, label string) bool {
	switch v := r.Value.(type) {
	case Decision:
		return v.Label == label
	case Ownership:
		return v.Label == label
	}
	return false
}
