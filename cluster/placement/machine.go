package placement

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// machineConfig is what a machine is made with.
type machineConfig struct {
	epoch         uint64 // greater than those of all coordinators before
	strategy      Strategy
	election      Election
	ackTimeout    time.Duration // after which a request is sent again
	retry         time.Duration // the first delay after a start that has failed; doubled each time
	retryMax      time.Duration
	sourceTimeout time.Duration // for a call of the source
}

// delay is how long to wait after so many failures: it is doubled with each.
func (cfg machineConfig) delay(failures int) time.Duration {
	d := cfg.retry
	for range failures - 1 {
		if d >= cfg.retryMax {
			break
		}
		d *= 2
	}
	return min(d, cfg.retryMax)
}

// A machine decides everything that the coordinator does. It starts no goroutine, reads no
// clock and knows no network: inputs go in, with the time, and facts and effects come out.
// After each input all that is wanted is compared with all that is known, so that it does
// not matter in which order inputs come, nor whether one comes twice.
type machine struct {
	fleet   *fleet
	specs   *specs
	singles *singles

	begun time.Time
	held  []input // requests that have come before there was enough known to answer them
}

func newMachine(cfg machineConfig) *machine {
	f := newFleet(cfg)
	m := &machine{fleet: f}
	m.singles = newSingles(cfg, f)
	m.specs = newSpecs(cfg, f, m.singles.owns)
	f.tenants = []tenant{m.specs, m.singles}
	return m
}

// replay applies a fact of the journal, to a machine that nothing else has happened to yet.
func (m *machine) replay(of fact) {
	m.singles.replay(of)
	if of.ofSingleton() {
		of.Record = nil // what there was of a spec is gone
	}
	m.specs.replay(of)
}

// step takes an input in. The facts are to be stored before the effects are carried out;
// the machine counts on both.
func (m *machine) step(in input, now time.Time) ([]fact, []effect) {
	f := m.fleet
	if f.now.Before(now) {
		f.now = now
	}
	m.take(in)
	f.pass()
	m.reconcile()
	if m.release() {
		m.reconcile()
	}
	effects := f.effects
	f.effects = nil
	return merged(m.specs.facts(), m.singles.facts()), effects
}

// merged returns the facts of one step, one for each label, sorted. The journal has one entry
// for a label, whosever it is: what one tenant forgets does not erase what the other has.
func merged(specs, singles []fact) []fact {
	last := map[string]fact{}
	for _, f := range singles {
		last[f.Label] = f
	}
	for _, f := range specs {
		if f.Record != nil || last[f.Label].Record == nil {
			last[f.Label] = f
		}
	}
	all := make([]fact, 0, len(last))
	for _, label := range slices.Sorted(maps.Keys(last)) {
		all = append(all, last[label])
	}
	return all
}

func (m *machine) take(in input) {
	switch in := in.(type) {
	case begun:
		m.begun = m.fleet.now
		m.specs.begin()
		m.singles.begin()
	case viewSeen:
		m.fleet.see(in)
	case heard:
		m.fleet.hear(in.msg)
	case sourced:
		m.singles.take(in)
	case drain:
		m.fleet.drain(in)
	case submit, remove, startSingleton, moveSingleton, stopSingleton:
		m.held = append(m.held, in)
	case withdrawn:
		m.specs.withdraw(in.label)
	case passed:
	}
}

// release carries out the requests that were held, once the nodes have had their time to
// tell what runs on them and the source to tell what singletons there are. It reports
// whether there were any.
func (m *machine) release() bool {
	if len(m.held) == 0 || !m.settled() {
		return false
	}
	for _, in := range m.held {
		switch in := in.(type) {
		case submit:
			m.specs.submit(in)
		case remove:
			m.specs.remove(in)
		default:
			m.singles.take(in)
		}
	}
	m.held = nil
	return true
}

func (m *machine) settled() bool {
	return m.fleet.settled() && (m.singles.listed() || !m.fleet.now.Before(m.listedBy()))
}

func (m *machine) listedBy() time.Time { return m.begun.Add(m.fleet.cfg.sourceTimeout) }

// reconcile looks at everything that may be placed, started, stopped or moved. It goes on
// until nothing changes any more, as what is placed may have followers.
func (m *machine) reconcile() {
	f := m.fleet
	for again := true; again; again = f.roomier || len(f.touched) > 0 {
		m.specs.notice(f.touched, f.roomier)
		m.singles.notice(f.touched, f.roomier)
		f.touched, f.roomier = map[string]bool{}, false
		m.specs.reconcile()
		m.singles.reconcile()
		m.stopStrays()
	}
	if m.settled() {
		f.endDrains()
	}
}

// stopStrays stops what was found running and is not wanted. Whether a singleton is, its
// tenant knows, as soon as there is a list.
func (m *machine) stopStrays() {
	for _, p := range m.fleet.sortedStrays() {
		label := p.start.Label
		if m.specs.owns(label) || m.singles.listed() && !m.singles.owns(label) {
			m.fleet.stop(p.on, label)
		}
	}
}

// next returns when a step is due though nothing has happened: passed.
func (m *machine) next() (time.Time, bool) {
	var e earliest
	for _, t := range m.fleet.tenants {
		e.add(t.next())
	}
	e.add(m.fleet.next())
	e.add(m.listedBy(), len(m.held) > 0 && m.fleet.now.Before(m.listedBy()))
	return e.at, e.ok
}

// view returns what is known of the cluster.
func (m *machine) view() View { return m.fleet.view() }

// statuses returns how all specs are doing, by label.
func (m *machine) statuses() []Status { return m.specs.statuses() }

// explain says why an actor is where it is. It fails with ErrNotFound.
func (m *machine) explain(label string) (Explanation, error) { return m.specs.explain(label) }

// ownership says where a singleton is; false when there is none of that label.
func (m *machine) ownership(label string) (Ownership, bool) { return m.singles.ownership(label) }

// ownershipOf is ownership, and fails with ErrNotFound; or with ErrSource, as long as
// nobody knows what singletons there are.
func (m *machine) ownershipOf(label string) (Ownership, error) {
	o, ok := m.ownership(label)
	switch {
	case ok:
		return o, nil
	case !m.singles.listed():
		return Ownership{}, m.singles.errUnlisted()
	}
	return Ownership{}, fmt.Errorf("%w: %q", ErrNotFound, label)
}
