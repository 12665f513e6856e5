package plan

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
type singletons struct {
	cfg   Config
	nodes *nodes
	all   map[string]*singleton

	open     map[uint64]*question // calls that have not been answered
	callsDue deadlines[uint64]    // until when they are waited for
	calls    uint64
	listed   bool      // the source has told what there is
	listAt   time.Time // when it is asked again
	failures int       // of lists

	stored  map[string]record // what the journal has
	news    []Fact
	dirty   map[string]bool   // labels to be settled
	due     deadlines[string] // of labels
	settled bool              // what the fleet was
}

func newSingletons(cfg Config, f *nodes) *singletons {
	return &singletons{
		cfg: cfg, nodes: f, all: map[string]*singleton{},
		open: map[uint64]*question{}, stored: map[string]record{}, dirty: map[string]bool{},
	}
}

// get returns the singleton of a label, and begins to know it.
func (s *singletons) get(label string) *singleton {
	x := s.all[label]
	if x == nil {
		x = &singleton{label: label}
		s.all[label] = x
	}
	s.touch(x)
	return x
}

func (s *singletons) touch(x *singleton) { s.dirty[x.label] = true }

// owns reports whether a singleton of that label exists, or there is something left of it.
func (s *singletons) owns(label string) bool { return s.all[label] != nil }

// listed reports whether the source has told what there is. Before that nobody knows what
// is wanted.
func (s *singletons) isListed() bool { return s.listed }

// ownership says where a singleton is; false when there is none of that label.
func (s *singletons) ownership(label string) (Ownership, bool) {
	x := s.all[label]
	if x == nil || !x.registered {
		return Ownership{}, false
	}
	return s.describe(x), true
}

// replay applies a fact of the journal.
func (s *singletons) replay(of Fact) {
	delete(s.stored, of.Label)
	if of.ofSingleton() {
		s.stored[of.Label] = *of.Record
	}
}

// begin goes on with what the journal has: an instance may run where the last was asked
// for, until its node has said that it does not.
func (s *singletons) begin() {
	for _, label := range slices.Sorted(maps.Keys(s.stored)) {
		r, x := s.stored[label], s.get(label)
		x.grant, x.askedGeneration, x.recorded = grant{r.Node, r.Generation}, r.Generation, true
		x.granted, x.call = r.Granted, r.Call
		if !r.Call.isZero() {
			s.suspectLastCall(x)
		}
		if r.Node != "" {
			x.on, x.request, x.expected = nodeID{name: r.Node, incarnation: r.Incarnation}, r.Request, true
			s.nodes.incarnation(x.on)
		}
	}
	s.call(nil, question{purpose: toList, op: OpList})
}

// doubt: a former coordinator has made a call that may happen still. When that is over, it
// is looked at what has come of it.
func (s *singletons) suspectLastCall(x *singleton) {
	x.specUncertain, x.stopUncertain = true, true
	x.retryAt = s.nodes.now.Add(s.cfg.SourceTimeout)
}

// relist asks the source again when it has not told what there is.
func (s *singletons) relist() {
	if !s.listAt.IsZero() && !s.nodes.now.Before(s.listAt) {
		s.listAt = time.Time{}
		s.call(nil, question{purpose: toList, op: OpList})
	}
}

// take takes an input in that is about singletons.
func (s *singletons) take(in Input) {
	switch in := in.(type) {
	case SourceAnswer:
		s.answered(in)
	case StartSingleton:
		s.serve(in.Token, func() { s.start(in) })
	case MoveSingleton:
		s.serve(in.Token, func() { s.move(in) })
	case StopSingleton:
		s.serve(in.Token, func() { s.stop(in) })
	}
}

// serve carries a request out, if it can be told what there is.
func (s *singletons) serve(who Token, request func()) {
	if !s.listed {
		s.answer(who, nil, s.errUnlisted())
		return
	}
	request()
}

func (s *singletons) errUnlisted() error {
	return fmt.Errorf("%w: it has not told yet what singletons there are; try again", ErrSource)
}

// next returns when something is due.
func (s *singletons) next() (time.Time, bool) {
	var e earliest
	e.add(s.due.first())
	e.add(s.listAt, !s.listAt.IsZero())
	e.add(s.callsDue.first())
	return e.at, e.ok
}
