package placement

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// singles is the tenant that keeps singletons at their anchors. Who owns one the source of
// generations decides: each instance is asked for by a generation of its own, which the
// source has granted to its node. Of each label there is at most one call of the source
// under way, and requests wait for it. Whatever happens, settle looks at what is wanted
// and what there is, and does the next thing.
type singles struct {
	cfg   machineConfig
	fleet *fleet
	all   map[string]*single

	open     map[uint64]*question // calls that have not been answered
	patience deadlines[uint64]    // until when they are waited for
	calls    uint64
	isListed bool      // the source has told what there is
	listAt   time.Time // when it is asked again
	failures int       // of lists

	stored  map[string]record // what the journal has
	news    []fact
	dirty   map[string]bool   // labels to be settled
	due     deadlines[string] // of labels
	settled bool              // what the fleet was
}

func newSingles(cfg machineConfig, f *fleet) *singles {
	return &singles{
		cfg: cfg, fleet: f, all: map[string]*single{},
		open: map[uint64]*question{}, stored: map[string]record{}, dirty: map[string]bool{},
	}
}

// get returns the singleton of a label, and begins to know it.
func (s *singles) get(label string) *single {
	x := s.all[label]
	if x == nil {
		x = &single{label: label}
		s.all[label] = x
	}
	s.touch(x)
	return x
}

func (s *singles) touch(x *single) { s.dirty[x.label] = true }

// owns reports whether a singleton of that label exists, or there is something left of it.
func (s *singles) owns(label string) bool { return s.all[label] != nil }

// listed reports whether the source has told what there is. Before that nobody knows what
// is wanted.
func (s *singles) listed() bool { return s.isListed }

// ownership says where a singleton is; false when there is none of that label.
func (s *singles) ownership(label string) (Ownership, bool) {
	x := s.all[label]
	if x == nil || !x.registered {
		return Ownership{}, false
	}
	return s.shown(x), true
}

// replay applies a fact of the journal.
func (s *singles) replay(of fact) {
	delete(s.stored, of.Label)
	if of.ofSingleton() {
		s.stored[of.Label] = *of.Record
	}
}

// begin goes on with what the journal has: an instance may run where the last was asked
// for, until its node has said that it does not.
func (s *singles) begin() {
	for _, label := range slices.Sorted(maps.Keys(s.stored)) {
		r, x := s.stored[label], s.get(label)
		x.grant, x.asked, x.noted = grant{r.Node, r.Generation}, r.Generation, true
		x.granted, x.call = r.Granted, r.Call
		if !r.Call.isZero() {
			s.doubt(x)
		}
		if r.Node != "" {
			x.on, x.request, x.expected = nodeID{name: r.Node, incarnation: r.Incarnation}, r.Request, true
			s.fleet.incarnation(x.on)
		}
	}
	s.ask(nil, question{purpose: toList, op: list})
}

// doubt: a former coordinator has made a call that may happen still. When that is over, it
// is looked at what has come of it.
func (s *singles) doubt(x *single) {
	x.unkept, x.unstopped = true, true
	x.retryAt = s.fleet.now.Add(s.cfg.sourceTimeout)
}

// relist asks the source again when it has not told what there is.
func (s *singles) relist() {
	if !s.listAt.IsZero() && !s.fleet.now.Before(s.listAt) {
		s.listAt = time.Time{}
		s.ask(nil, question{purpose: toList, op: list})
	}
}

// take takes an input in that is about singletons.
func (s *singles) take(in input) {
	switch in := in.(type) {
	case sourced:
		s.answered(in)
	case startSingleton:
		s.serve(in.token, func() { s.start(in) })
	case moveSingleton:
		s.serve(in.token, func() { s.move(in) })
	case stopSingleton:
		s.serve(in.token, func() { s.stop(in) })
	}
}

// serve carries a request out, if it can be told what there is.
func (s *singles) serve(who token, request func()) {
	if !s.isListed {
		s.answer(who, nil, s.errUnlisted())
		return
	}
	request()
}

func (s *singles) errUnlisted() error {
	return fmt.Errorf("%w: it has not told yet what singletons there are; try again", ErrSource)
}

// next returns when something is due.
func (s *singles) next() (time.Time, bool) {
	var e earliest
	e.add(s.due.first())
	e.add(s.listAt, !s.listAt.IsZero())
	e.add(s.patience.first())
	return e.at, e.ok
}
