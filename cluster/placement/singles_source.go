package placement

import (
	"errors"
	"fmt"

	"github.com/understudy-go/understudy/singleton/generation"
)

// A purpose is what the source is asked for.
type purpose uint8

const (
	toList     purpose = iota // what there is
	toStart                   // a new owner, for StartSingleton
	toRegrant                 // the next number for the same owner, for StartSingleton
	toRegister                // the spec is to be kept, the last step of both
	toMove                    // a new owner, while there is an old one
	toOwn                     // an owner, where nothing runs
	toStop                    // the spec is to be forgotten
	toReassure                // what is wanted is to be so, as nobody knows what the source has
)

// A question is a call of the source that has not been answered.
type question struct {
	purpose purpose
	op      sourceOp
	owner   string
	spec    SingletonSpec // of StartSingleton
	grant   grant         // that the spec is registered with
	token   token         // who waits for it; 0 for nobody
	x       *single       // nil of a list
}

func (q *question) is(p purpose) bool { return q != nil && q.purpose == p }

// changes reports whether it changes what the source keeps.
func (q *question) changes() bool { return q != nil && (q.op == putSpec || q.op == forget) }

// errSilent is what a call comes to that is not answered. Whether it has happened nobody
// knows; its answer is not looked at any more.
var errSilent = errors.New("no answer in time")

// ask calls the source. Of one singleton there is never more than one call under way.
func (s *singles) ask(x *single, q question) {
	s.calls++
	q.x, s.open[s.calls] = x, &q
	s.patience.set(s.calls, s.fleet.now.Add(s.cfg.sourceTimeout))
	e := call{call: s.calls, op: q.op, owner: q.owner}
	if x != nil {
		x.asking = &q
		e.label, e.spec = x.label, q.spec
		if q.changes() {
			x.call = requestID{Epoch: s.cfg.epoch, N: s.calls}
			s.touch(x)
		}
	}
	s.fleet.emit(e)
}

// answered takes an answer of the source in. That to a call which has been given up means
// nothing.
func (s *singles) answered(in sourced) {
	q := s.open[in.call]
	if q == nil {
		return
	}
	delete(s.open, in.call)
	s.patience.clear(in.call)
	if q.purpose == toList {
		s.relisted(in.records, in.err)
		return
	}
	q.x.asking = nil
	s.touch(q.x)
	if in.err != nil {
		s.refusedBySource(q, in.err)
	} else {
		s.granted(q, in.generation)
	}
	if q.x.asking == nil {
		s.resume(q.x)
	}
}

// expire gives up calls that are not answered in time.
func (s *singles) expire() {
	for _, n := range s.patience.pass(s.fleet.now) {
		s.answered(sourced{call: n, err: errSilent})
	}
}

// granted goes on with what the source was asked for.
func (s *singles) granted(q *question, g Generation) {
	x := q.x
	if q.op == claimTerm || q.op == claimSeq {
		if !x.granted.Less(g) {
			s.refusedBySource(q, fmt.Errorf("it has granted %v after %v", g, x.granted))
			return
		}
		x.granted = g
	}
	switch q.purpose {
	case toStart:
		s.ask(x, question{purpose: toRegister, op: putSpec, spec: q.spec, grant: grant{q.owner, g}, token: q.token})
	case toRegrant:
		s.regranted(q, g)
	case toRegister:
		s.registered(q)
	case toMove:
		s.install(x, grant{q.owner, g})
		s.answer(q.token, s.shown(x), nil)
	case toOwn:
		s.owned(q, g)
	case toStop:
		s.forgotten(q)
	case toReassure:
		s.reassured(q, g)
	}
}

// regranted: the owner has been granted the next number, unless another has been granted
// a term since, which this coordinator does not know of.
func (s *singles) regranted(q *question, g Generation) {
	x := q.x
	switch {
	case g.Term != x.grant.generation.Term, s.phase(x) != SingletonActive:
		s.ask(x, question{purpose: toStart, op: claimTerm, owner: q.owner, spec: q.spec, token: q.token})
	case !x.spec.equal(q.spec):
		s.ask(x, question{purpose: toRegister, op: putSpec, spec: q.spec, grant: grant{q.owner, g}, token: q.token})
	default:
		x.grant.generation = g
		s.answer(q.token, s.shown(x), nil)
	}
}

// registered: the source has the spec, and the singleton exists.
func (s *singles) registered(q *question) {
	x := q.x
	x.registered, x.unkept, x.spec = true, false, q.spec
	if q.grant.owner == x.grant.owner && q.grant.generation.Term == x.grant.generation.Term {
		x.grant.generation = q.grant.generation // the instance goes on
	} else {
		s.install(x, q.grant)
	}
	s.answer(q.token, s.shown(x), nil)
}

// owned: there is an owner for what runs nowhere.
func (s *singles) owned(q *question, g Generation) {
	x := q.x
	if q.op == claimSeq && g.Term != x.grant.generation.Term { // another has been granted since
		s.ask(x, question{purpose: toOwn, op: claimTerm, owner: q.owner})
		return
	}
	x.grant, x.unused = grant{q.owner, g}, true
}

// forgotten: the source does not know it any more, so it ends, come what may.
func (s *singles) forgotten(q *question) {
	x := q.x
	x.ending, x.next = true, grant{}
	x.calm()
	s.giveTime(x)
	x.stoppers = append(x.stoppers, q.token)
}

// reassured: what the source has is what is wanted.
func (s *singles) reassured(q *question, g Generation) {
	x := q.x
	switch {
	case q.op != claimSeq:
		x.unkept = false
	case g.Term == x.grant.generation.Term:
		x.grant.generation, x.unstopped = g, false
	default:
		x.unstopped = false
	}
	if s.phase(x) == SingletonActive {
		x.calm()
	}
}

// refusedBySource tells who waits, or tries again later.
func (s *singles) refusedBySource(q *question, err error) {
	x := q.x
	never := errors.Is(err, generation.ErrNeverClaimed)
	if q.op == claimSeq && (never || errors.Is(err, generation.ErrOverflow)) {
		s.unnumbered(q, never)
		return
	}
	x.unkept = x.unkept || q.op == putSpec
	x.unstopped = x.unstopped || q.op == forget && x.registered
	err = fmt.Errorf("%w: %v of %q: %w", ErrSource, q.op, x.label, err)
	if q.token != 0 {
		s.answer(q.token, nil, err)
		return
	}
	s.penalize(x, err.Error())
}

// unnumbered: there is no next number, so there has to be a new term; unless it turns out
// that the source has forgotten it, as somebody has asked for.
func (s *singles) unnumbered(q *question, forgotten bool) {
	x := q.x
	switch q.purpose {
	case toReassure:
		x.unstopped = false
		if forgotten && x.registered {
			s.forgotten(q)
		}
	case toRegrant:
		s.ask(x, question{purpose: toStart, op: claimTerm, owner: q.owner, spec: q.spec, token: q.token})
	default:
		x.unkept = x.unkept || forgotten
		s.ask(x, question{purpose: toOwn, op: claimTerm, owner: q.owner})
	}
}

// relisted takes in what there is.
func (s *singles) relisted(records []sourceRecord, err error) {
	if err != nil {
		s.failures++
		s.listAt = s.fleet.now.Add(s.cfg.delay(s.failures))
		return
	}
	s.isListed = true
	for _, r := range records {
		x := s.get(r.spec.Label)
		if r.generation == (Generation{}) { // kept after it was forgotten, by a call that came late
			x.unkept = true
			continue
		}
		x.spec, x.registered = r.spec, true
		s.inherit(x, grant{r.owner, r.generation})
	}
	s.touchAll()
}

// inherit goes on where a former coordinator has ended: g is what the source has granted
// last, and what the journal has of an instance may be of an earlier grant.
func (s *singles) inherit(x *single, g grant) {
	was := x.grant
	if x.granted.Less(g.generation) {
		x.granted = g.generation
	}
	switch {
	case !x.noted:
		x.grant = g
	case !was.generation.Less(g.generation): // if it is less the source has lost what it has granted, and the next claim shows
		x.grant.owner = g.owner
	case was.owner != "" && was.generation.Term == g.generation.Term:
		x.grant = g
	case was.owner == "":
		x.grant, x.unused = g, true
	default: // it was being moved
		x.next = g
		s.giveTime(x)
	}
}

// String names the call as the source does.
func (op sourceOp) String() string {
	switch op {
	case claimTerm:
		return "ClaimTerm"
	case claimSeq:
		return "ClaimSeq"
	case putSpec:
		return "PutSpec"
	case list:
		return "List"
	case forget:
		return "Forget"
	}
	return fmt.Sprintf("sourceOp(%d)", uint8(op))
}
