package plan

import (
	"errors"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/cluster/internal/hosting"
	"github.com/understudy-go/understudy/internal/deadlines"
	"github.com/understudy-go/understudy/singleton/generation"
)

// errNoAnswer is the result of a call that was not answered in time. The call may or may not have
// taken effect; a later answer is ignored.
var errNoAnswer = errors.New("no answer in time")

// sourceCalls are the calls of the source of generations that have not been answered.
type sourceCalls struct {
	open map[uint64]*question
	due  deadlines.Map[uint64] // when the wait for each answer ends
	last uint64                // the number of the last call
}

// begin returns the number of a new call.
func (c *sourceCalls) begin(q *question, until time.Time) uint64 {
	c.last++
	c.open[c.last] = q
	c.due.Set(c.last, until)
	return c.last
}

// end returns the question of a call that has been answered, or nil if the call was given up.
func (c *sourceCalls) end(number uint64) *question {
	q := c.open[number]
	delete(c.open, number)
	c.due.Clear(number)
	return q
}

// A purpose is the reason for a call of the source.
type purpose uint8

const (
	toList     purpose = iota // learn which singletons there are
	toStart                   // a new owner, for StartSingleton
	toRegrant                 // the next number for the same owner, for StartSingleton
	toRegister                // store the spec, the last step of both
	toMove                    // a new owner while there is an old one
	toOwn                     // an owner where no instance runs
	toStop                    // forget the spec
	toVerify                  // bring the source to the desired state, because its state is unknown
)

// A question is a call of the source, and what to do with its answer.
type question struct {
	purpose purpose
	op      SourceOp
	owner   string
	spec    SingletonSpec // of StartSingleton
	grant   grant         // the grant under which the spec is registered
	token   hosting.Token // the request that waits for the answer; 0 for none
	x       *singleton    // nil for toList
}

func (q *question) is(p purpose) bool { return q != nil && q.purpose == p }

// changes reports whether the call changes what the source keeps.
func (q *question) changes() bool { return q != nil && (q.op == OpPutSpec || q.op == OpForget) }

// claimTerm asks for a new term, because the source cannot grant the sequence number.
func (q *question) claimTerm(p purpose) {
	q.x.ask(question{purpose: p, op: OpClaimTerm, owner: q.owner, spec: q.spec, token: q.token})
}

// register asks the source to store the spec under a generation that it has granted.
func (q *question) register(g Generation) {
	q.x.ask(question{purpose: toRegister, op: OpPutSpec, spec: q.spec, grant: grant{q.owner, g}, token: q.token})
}

func (q *question) reply(value any, err error) { q.x.in.reply(q.token, value, err) }

// receive handles the answer, and then the requests that waited for it.
func (q *question) receive(in SourceAnswer) {
	x := q.x
	x.asking = nil
	x.touch()
	if in.Err != nil {
		q.failed(in.Err)
	} else {
		q.succeeded(in.Generation)
	}
	if x.asking != nil {
		return
	}
	waiting := x.requests
	x.requests = nil
	for _, in := range waiting {
		x.in.apply(in)
	}
}

func (q *question) succeeded(g Generation) {
	x := q.x
	if q.op == OpClaimTerm || q.op == OpClaimSeq {
		if !x.granted.Less(g) {
			q.failed(fmt.Errorf("it has granted %v after %v", g, x.granted))
			return
		}
		x.granted = g
	}
	switch q.purpose {
	case toStart:
		q.register(g)
	case toRegrant:
		q.regranted(g)
	case toRegister:
		q.registered()
	case toMove:
		x.install(grant{q.owner, g})
		q.reply(x.ownership(), nil)
	case toOwn:
		q.owned(g)
	case toStop:
		q.forgotten()
	case toVerify:
		q.verified(g)
	case toList:
	}
}

// regranted handles the grant of the next sequence number to the owner. If another term has been
// granted meanwhile, unknown to this coordinator, the singleton needs a new term.
func (q *question) regranted(g Generation) {
	x := q.x
	switch {
	case g.Term != x.grant.generation.Term, x.phase() != SingletonActive:
		q.claimTerm(toStart)
	case !x.spec.equal(q.spec):
		q.register(g)
	default:
		x.grant.generation = g
		q.reply(x.ownership(), nil)
	}
}

// registered: the source has stored the spec, so the singleton exists. If the owner and the term
// have not changed, its instance continues.
func (q *question) registered() {
	x := q.x
	x.registered, x.specUncertain, x.spec = true, false, q.spec
	if q.grant.owner == x.grant.owner && q.grant.generation.Term == x.grant.generation.Term {
		x.grant.generation = q.grant.generation
	} else {
		x.install(q.grant)
	}
	q.reply(x.ownership(), nil)
}

// owned: there is an owner for a singleton that runs nowhere, unless another term has been granted
// since.
func (q *question) owned(g Generation) {
	x := q.x
	if q.op == OpClaimSeq && g.Term != x.grant.generation.Term {
		q.claimTerm(toOwn)
		return
	}
	x.grant, x.unused = grant{q.owner, g}, true
}

// forgotten: the source has forgotten the singleton, so it ends in any case.
func (q *question) forgotten() {
	x := q.x
	x.ending, x.nextGrant = true, grant{}
	x.resetFailures()
	x.startDrain()
	x.stopTokens = append(x.stopTokens, q.token)
}

// verified: the source has the desired state.
func (q *question) verified(g Generation) {
	x := q.x
	switch {
	case q.op != OpClaimSeq:
		x.specUncertain = false
	case g.Term == x.grant.generation.Term:
		x.grant.generation, x.stopUncertain = g, false
	default:
		x.stopUncertain = false
	}
	if x.phase() == SingletonActive {
		x.resetFailures()
	}
}

// failed answers the waiting request with the error, or makes the singleton try again later.
func (q *question) failed(err error) {
	x := q.x
	never := errors.Is(err, generation.ErrNeverClaimed)
	if q.op == OpClaimSeq && (never || errors.Is(err, generation.ErrOverflow)) {
		q.noNextSeq(never)
		return
	}
	x.specUncertain = x.specUncertain || q.op == OpPutSpec
	x.stopUncertain = x.stopUncertain || q.op == OpForget && x.registered
	err = fmt.Errorf("%w: %v of %q: %w", ErrSource, q.op, x.label, err)
	if q.token != 0 {
		q.reply(nil, err)
		return
	}
	x.backOff(err.Error())
}

// noNextSeq: the source cannot grant the next sequence number, so the singleton needs a new term.
// When it verifies and the source has forgotten the singleton, as an earlier request had asked, the
// singleton ends instead.
func (q *question) noNextSeq(forgotten bool) {
	x := q.x
	switch q.purpose {
	case toVerify:
		x.stopUncertain = false
		if forgotten && x.registered {
			q.forgotten()
		}
	case toRegrant:
		q.claimTerm(toStart)
	default:
		x.specUncertain = x.specUncertain || forgotten
		x.ask(question{purpose: toOwn, op: OpClaimTerm, owner: q.owner})
	}
}

// String returns the name of the method of the source.
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
	return fmt.Sprintf("SourceOp(%d)", uint8(op))
}
