package plan

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
	toVerify                  // what is wanted is to be so, as nobody knows what the source has
)

// A question is a call of the source that has not been answered.
type question struct {
	purpose purpose
	op      SourceOp
	owner   string
	spec    SingletonSpec // of StartSingleton
	grant   grant         // that the spec is registered with
	token   Token         // who waits for it; 0 for nobody
	x       *singleton    // nil of a list
}

func (q *question) is(p purpose) bool { return q != nil && q.purpose == p }

// changes reports whether it changes what the source keeps.
func (q *question) changes() bool { return q != nil && (q.op == OpPutSpec || q.op == OpForget) }

// errSilent is what a call comes to that is not answered. Whether it has happened nobody
// knows; its answer is not looked at any more.
var errNoAnswer = errors.New("no answer in time")

// ask calls the source. Of one singleton there is never more than one call under way.
func (s *singletons) call(x *singleton, q question) {
	s.calls++
	q.x, s.open[s.calls] = x, &q
	s.callsDue.set(s.calls, s.nodes.now.Add(s.cfg.SourceTimeout))
	e := SourceCall{Number: s.calls, Op: q.op, Owner: q.owner}
	if x != nil {
		x.asking = &q
		e.Label, e.Spec = x.label, q.spec
		if q.changes() {
			x.call = RequestID{Epoch: s.cfg.Epoch, N: s.calls}
			s.touch(x)
		}
	}
	s.nodes.emit(e)
}

// answered takes an answer of the source in. That to a call which has been given up means
// nothing.
func (s *singletons) answered(in SourceAnswer) {
	q := s.open[in.Number]
	if q == nil {
		return
	}
	delete(s.open, in.Number)
	s.callsDue.clear(in.Number)
	if q.purpose == toList {
		s.listAnswered(in.Records, in.Err)
		return
	}
	q.x.asking = nil
	s.touch(q.x)
	if in.Err != nil {
		s.sourceRefused(q, in.Err)
	} else {
		s.granted(q, in.Generation)
	}
	if q.x.asking == nil {
		s.resume(q.x)
	}
}

// expire gives up calls that are not answered in time.
func (s *singletons) expireCalls() {
	for _, n := range s.callsDue.pass(s.nodes.now) {
		s.answered(SourceAnswer{Number: n, Err: errNoAnswer})
	}
}

// granted goes on with what the source was asked for.
func (s *singletons) granted(q *question, g Generation) {
	x := q.x
	if q.op == OpClaimTerm || q.op == OpClaimSeq {
		if !x.granted.Less(g) {
			s.sourceRefused(q, fmt.Errorf("it has granted %v after %v", g, x.granted))
			return
		}
		x.granted = g
	}
	switch q.purpose {
	case toStart:
		s.call(x, question{purpose: toRegister, op: OpPutSpec, spec: q.spec, grant: grant{q.owner, g}, token: q.token})
	case toRegrant:
		s.regranted(q, g)
	case toRegister:
		s.registered(q)
	case toMove:
		s.install(x, grant{q.owner, g})
		s.answer(q.token, s.describe(x), nil)
	case toOwn:
		s.owned(q, g)
	case toStop:
		s.forgotten(q)
	case toVerify:
		s.verified(q, g)
	}
}

// regranted: the owner has been granted the next number, unless another has been granted
// a term since, which this coordinator does not know of.
func (s *singletons) regranted(q *question, g Generation) {
	x := q.x
	switch {
	case g.Term != x.grant.generation.Term, s.phase(x) != SingletonActive:
		s.call(x, question{purpose: toStart, op: OpClaimTerm, owner: q.owner, spec: q.spec, token: q.token})
	case !x.spec.equal(q.spec):
		s.call(x, question{purpose: toRegister, op: OpPutSpec, spec: q.spec, grant: grant{q.owner, g}, token: q.token})
	default:
		x.grant.generation = g
		s.answer(q.token, s.describe(x), nil)
	}
}

// registered: the source has the spec, and the singleton exists.
func (s *singletons) registered(q *question) {
	x := q.x
	x.registered, x.specUncertain, x.spec = true, false, q.spec
	if q.grant.owner == x.grant.owner && q.grant.generation.Term == x.grant.generation.Term {
		x.grant.generation = q.grant.generation // the instance goes on
	} else {
		s.install(x, q.grant)
	}
	s.answer(q.token, s.describe(x), nil)
}

// owned: there is an owner for what runs nowhere.
func (s *singletons) owned(q *question, g Generation) {
	x := q.x
	if q.op == OpClaimSeq && g.Term != x.grant.generation.Term { // another has been granted since
		s.call(x, question{purpose: toOwn, op: OpClaimTerm, owner: q.owner})
		return
	}
	x.grant, x.unused = grant{q.owner, g}, true
}

// forgotten: the source does not know it any more, so it ends, come what may.
func (s *singletons) forgotten(q *question) {
	x := q.x
	x.ending, x.next = true, grant{}
	x.resetFailures()
	s.startDrain(x)
	x.stopTokens = append(x.stopTokens, q.token)
}

// reassured: what the source has is what is wanted.
func (s *singletons) verified(q *question, g Generation) {
	x := q.x
	switch {
	case q.op != OpClaimSeq:
		x.specUncertain = false
	case g.Term == x.grant.generation.Term:
		x.grant.generation, x.stopUncertain = g, false
	default:
		x.stopUncertain = false
	}
	if s.phase(x) == SingletonActive {
		x.resetFailures()
	}
}

// refusedBySource tells who waits, or tries again later.
func (s *singletons) sourceRefused(q *question, err error) {
	x := q.x
	never := errors.Is(err, generation.ErrNeverClaimed)
	if q.op == OpClaimSeq && (never || errors.Is(err, generation.ErrOverflow)) {
		s.noNextSeq(q, never)
		return
	}
	x.specUncertain = x.specUncertain || q.op == OpPutSpec
	x.stopUncertain = x.stopUncertain || q.op == OpForget && x.registered
	err = fmt.Errorf("%w: %v of %q: %w", ErrSource, q.op, x.label, err)
	if q.token != 0 {
		s.answer(q.token, nil, err)
		return
	}
	s.backOff(x, err.Error())
}

// unnumbered: there is no next number, so there has to be a new term; unless it turns out
// that the source has forgotten it, as somebody has asked for.
func (s *singletons) noNextSeq(q *question, forgotten bool) {
	x := q.x
	switch q.purpose {
	case toVerify:
		x.stopUncertain = false
		if forgotten && x.registered {
			s.forgotten(q)
		}
	case toRegrant:
		s.call(x, question{purpose: toStart, op: OpClaimTerm, owner: q.owner, spec: q.spec, token: q.token})
	default:
		x.specUncertain = x.specUncertain || forgotten
		s.call(x, question{purpose: toOwn, op: OpClaimTerm, owner: q.owner})
	}
}

// relisted takes in what there is.
func (s *singletons) listAnswered(records []SourceRecord, err error) {
	if err != nil {
		s.failures++
		s.listAt = s.nodes.now.Add(s.cfg.delay(s.failures))
		return
	}
	s.listed = true
	for _, r := range records {
		x := s.get(r.Spec.Label)
		if r.Generation == (Generation{}) { // kept after it was forgotten, by a call that came late
			x.specUncertain = true
			continue
		}
		x.spec, x.registered = r.Spec, true
		s.inherit(x, grant{r.Owner, r.Generation})
	}
	s.touchAll()
}

// inherit goes on where a former coordinator has ended: g is what the source has granted
// last, and what the journal has of an instance may be of an earlier grant.
func (s *singletons) inherit(x *singleton, g grant) {
	was := x.grant
	if x.granted.Less(g.generation) {
		x.granted = g.generation
	}
	switch {
	case !x.recorded:
		x.grant = g
	case !was.generation.Less(g.generation): // if it is less the source has lost what it has granted, and the next claim shows
		x.grant.owner = g.owner
	case was.owner != "" && was.generation.Term == g.generation.Term:
		x.grant = g
	case was.owner == "":
		x.grant, x.unused = g, true
	default: // it was being moved
		x.next = g
		s.startDrain(x)
	}
}

// String names the call as the source does.
func (op SourceOp) String() string {
	switch op {
	case OpClaimTerm:
		return "ClaimTerm"
	case OpClaimSeq:
		return "ClaimSeq"
	case OpPutSpec:
		return "PutSpec"
	case OpList:
		return "List"
	case OpForget:
		return "Forget"
	}
	return fmt.Sprintf("sourceOp(%d)", uint8(op))
}
