package plan

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// machineConfig is what a machine is made with.
type Config struct {
	Epoch         uint64 // greater than those of all coordinators before
	Strategy      Strategy
	Election      Election
	AckTimeout    time.Duration // after which a request is sent again
	Retry         time.Duration // the first delay after a start that has failed; doubled each time
	RetryMax      time.Duration
	SourceTimeout time.Duration // for a call of the source
}

// delay is how long to wait after so many failures: it is doubled with each.
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

// A machine decides everything that the coordinator does. It starts no goroutine, reads no
// clock and knows no network: inputs go in, with the time, and facts and effects come out.
// After each input all that is wanted is compared with all that is known, so that it does
// not matter in which order inputs come, nor whether one comes twice.
type Planner struct {
	nodes      *nodes
	specs      *specs
	singletons *singletons

	recoveredAt time.Time
	held        []Input // requests that have come before there was enough known to answer them
}

func New(cfg Config) *Planner {
	f := newNodes(cfg)
	m := &Planner{nodes: f}
	m.singletons = newSingletons(cfg, f)
	m.specs = newSpecs(cfg, f, m.singletons.owns)
	f.workloads = []workload{m.specs, m.singletons}
	return m
}

// replay applies a fact of the journal, to a machine that nothing else has happened to yet.
func (m *Planner) Replay(of Fact) {
	m.singletons.replay(of)
	if of.ofSingleton() {
		of.Record = nil // what there was of a spec is gone
	}
	m.specs.replay(of)
}

// step takes an input in. The facts are to be stored before the effects are carried out;
// the machine counts on both.
func (m *Planner) Step(in Input, now time.Time) ([]Fact, []Effect) {
	f := m.nodes
	if f.now.Before(now) {
		f.now = now
	}
	m.apply(in)
	f.tick()
	m.reconcile()
	if m.serveHeld() {
		m.reconcile()
	}
	return merged(m.specs.facts(), m.singletons.journal.facts()), f.take()
}

// merged returns the facts of one step, one for each label, sorted. The journal has one entry
// for a label, whosever it is: what one tenant forgets does not erase what the other has.
func merged(specs, singles []Fact) []Fact {
	last := map[string]Fact{}
	for _, f := range singles {
		last[f.Label] = f
	}
	for _, f := range specs {
		if f.Record != nil || last[f.Label].Record == nil {
			last[f.Label] = f
		}
	}
	all := make([]Fact, 0, len(last))
	for _, label := range slices.Sorted(maps.Keys(last)) {
		all = append(all, last[label])
	}
	return all
}

func (m *Planner) apply(in Input) {
	switch in := in.(type) {
	case Recovered:
		m.recoveredAt = m.nodes.now
		m.specs.begin()
		m.singletons.begin()
	case ViewChanged:
		m.nodes.update(in)
	case Received:
		m.nodes.receive(in.Message)
	case SourceAnswer:
		m.singletons.apply(in)
	case Drain:
		m.nodes.drain(in)
	case Submit, Remove, StartSingleton, MoveSingleton, StopSingleton:
		m.held = append(m.held, in)
	case withdrawn:
		m.specs.withdraw(in.label)
	case Tick:
	}
}

// release carries out the requests that were held, once the nodes have had their time to
// tell what runs on them and the source to tell what singletons there are. It reports
// whether there were any.
func (m *Planner) serveHeld() bool {
	if len(m.held) == 0 || !m.settled() {
		return false
	}
	for _, in := range m.held {
		switch in := in.(type) {
		case Submit:
			m.specs.submit(in)
		case Remove:
			m.specs.remove(in)
		default:
			m.singletons.apply(in)
		}
	}
	m.held = nil
	return true
}

func (m *Planner) settled() bool {
	return m.nodes.settled() && (m.singletons.catalog.listed || !m.nodes.now.Before(m.listedBy()))
}

func (m *Planner) listedBy() time.Time { return m.recoveredAt.Add(m.nodes.cfg.SourceTimeout) }

// reconcile looks at everything that may be placed, started, stopped or moved. It goes on
// until nothing changes any more, as what is placed may have followers.
func (m *Planner) reconcile() {
	f := m.nodes
	for again := true; again; again = f.moreRoom || len(f.touched) > 0 {
		m.specs.notice(f.touched, f.moreRoom)
		m.singletons.notice(f.touched, f.moreRoom)
		f.touched, f.moreRoom = map[string]bool{}, false
		m.specs.reconcile()
		m.singletons.reconcile()
		m.stopOrphans()
	}
	if m.settled() {
		f.endDrains()
	}
}

// stopStrays stops what was found running and is not wanted. Whether a singleton is, its
// tenant knows, as soon as there is a list.
func (m *Planner) stopOrphans() {
	for _, p := range m.nodes.orphans.sorted() {
		label := p.start.Label
		if m.specs.owns(label) || m.singletons.catalog.listed && !m.singletons.owns(label) {
			m.nodes.stop(p.on, label)
		}
	}
}

// next returns when a step is due though nothing has happened: passed.
func (m *Planner) Next() (time.Time, bool) {
	var e earliest
	for _, t := range m.nodes.workloads {
		e.add(t.next())
	}
	e.add(m.nodes.next())
	e.add(m.listedBy(), len(m.held) > 0 && m.nodes.now.Before(m.listedBy()))
	return e.at, e.ok
}

// view returns what is known of the cluster.
func (m *Planner) View() View { return m.nodes.view() }

// statuses returns how all specs are doing, by label.
func (m *Planner) Statuses() []Status { return m.specs.statuses() }

// explain says why an actor is where it is. It fails with ErrNotFound.
func (m *Planner) Explain(label string) (Explanation, error) { return m.specs.explain(label) }

// ownership says where a singleton is; false when there is none of that label.
func (m *Planner) ownership(label string) (Ownership, bool) { return m.singletons.ownership(label) }

// ownershipOf is ownership, and fails with ErrNotFound; or with ErrSource, as long as
// nobody knows what singletons there are.
func (m *Planner) OwnershipOf(label string) (Ownership, error) {
	o, ok := m.ownership(label)
	switch {
	case ok:
		return o, nil
	case !m.singletons.catalog.listed:
		return Ownership{}, m.singletons.errUnlisted()
	}
	return Ownership{}, fmt.Errorf("%w: %q", ErrNotFound, label)
}
