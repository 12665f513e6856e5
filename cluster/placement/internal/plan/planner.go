package plan

import (
	"fmt"
	"time"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/internal/deadlines"
)

// A Config has the settings of a [Planner]. Every field is required.
type Config struct {
	Epoch         uint64 // greater than the epochs of all earlier coordinators
	Strategy      Strategy
	Election      Election
	AckTimeout    time.Duration // after which a request to an agent is sent again
	Retry         time.Duration // the delay after the first failure; it doubles with each further one
	RetryMax      time.Duration // the longest delay
	SourceTimeout time.Duration // how long a source of terms may take; 0: the planner issues them itself
}

// delay returns how long to wait after that many failures.
func (cfg Config) delay(failures int) time.Duration {
	d := cfg.Retry
	for range failures - 1 {
		if d >= cfg.RetryMax {
			break
		}
		d *= 2
	}
	return min(d, cfg.RetryMax)
}

// A Planner decides everything that the coordinator does; see the package documentation.
type Planner struct {
	cfg        Config
	nodes      *home.Nodes
	specs      *specs
	singletons *singletons

	held []Input // requests that wait until enough is known to answer them
}

// New returns an empty planner. The caller first replays the facts of the journal with Replay, and
// then calls Step with [Recovered].
func New(cfg Config) *Planner {
	f := home.New(home.Config{Epoch: cfg.Epoch, AckTimeout: cfg.AckTimeout})
	m := &Planner{cfg: cfg, nodes: f}
	m.singletons = newSingletons(cfg, f)
	m.specs = newSpecs(cfg, f, m.singletons.Owns)
	m.singletons.isSpec = m.specs.Owns
	f.Add(m.specs)
	f.Add(m.singletons)
	return m
}

// Replay applies a fact of the journal, before any step.
func (m *Planner) Replay(of Fact) {
	if of.Singleton != nil {
		m.singletons.replay(of.Label, *of.Singleton)
	} else {
		m.specs.replay(of)
	}
}

// Step handles an input. The caller must store the facts before it carries out the effects.
func (m *Planner) Step(in Input, now time.Time) ([]Fact, []home.Effect) {
	m.nodes.Advance(now)
	if _, undoes := in.(withdrawn); !undoes {
		clear(m.singletons.before)
	}
	m.apply(in)
	m.nodes.Tick()
	m.reconcile()
	if m.serveHeld() {
		m.reconcile()
	}
	return append(m.specs.facts(), m.singletons.facts()...), m.nodes.Take()
}

func (m *Planner) apply(in Input) {
	switch in := in.(type) {
	case Recovered:
		m.specs.begin()
		m.singletons.begin()
	case ViewChanged:
		m.nodes.Update(in.Nodes, in.Gone)
	case Received:
		m.nodes.Receive(in.Message)
	case TermClaimed:
		m.singletons.claims.end(in)
	case Drain:
		m.nodes.Drain(home.NodeID{Name: in.Node, Incarnation: in.Incarnation}, in.Token)
	case Submit, Remove, StartSingleton, MoveSingleton, StopSingleton:
		m.held = append(m.held, in)
	case withdrawn:
		if in.fact.Singleton != nil {
			m.singletons.withdraw(in.fact)
		} else {
			m.specs.withdraw(in.fact.Label)
		}
	case Tick:
	}
}

// serveHeld serves the held requests, unless it is too early: the nodes must have reported or timed
// out. It reports whether it has served any.
func (m *Planner) serveHeld() bool {
	if len(m.held) == 0 || !m.nodes.Settled() {
		return false
	}
	held := m.held
	m.held = nil
	for _, in := range held {
		switch in := in.(type) {
		case Submit:
			if m.awaitsNode(&in) {
				m.held = append(m.held, in)
			} else {
				m.specs.submit(in)
			}
		case Remove:
			m.specs.remove(in)
		default:
			m.singletons.apply(in)
		}
	}
	return len(m.held) < len(held)
}

// readyWait is how long a submission waits for a node that has not said yet that it takes part:
// placement may just have been started there.
const readyWait = 5 * time.Second

// awaitsNode reports whether a submission would succeed if all members were ready, and waits for
// that.
func (m *Planner) awaitsNode(in *Submit) bool {
	if !awaitsNode(m.specs, in.Spec) {
		return false
	}
	if in.until.IsZero() {
		in.until = m.nodes.Now().Add(readyWait)
	}
	return m.nodes.Now().Before(in.until)
}

// reconcile lets the workloads place, start, stop and move actors.
func (m *Planner) reconcile() {
	m.nodes.Reconcile(m.unwanted)
	if m.nodes.Settled() {
		m.nodes.EndDrains()
	}
}

// unwanted reports whether no workload wants the orphan of a label.
func (m *Planner) unwanted(label string) bool { return !m.singletons.Owns(label) }

// Next returns when a [Tick] is due.
func (m *Planner) Next() (time.Time, bool) {
	var e deadlines.Earliest
	e.Add(m.nodes.Next())
	for _, in := range m.held {
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
