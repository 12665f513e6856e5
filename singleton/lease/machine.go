package lease

import (
	"math"
	"time"
)

// attempts is how often a request with a waiting caller is made before the caller gets an error:
// asking again finds out what a lost answer has said.
const attempts = 2

type state uint8

const (
	free      state = iota // nothing is held, and nothing is to be released
	taking                 // an Acquire waits, or its request is still under way
	held                   // valid
	renewing               // valid, with a renewal under way
	lost                   // not valid; the store may not know that yet
	returning              // not valid; what the store may have noted is released
)

var stateNames = [...]string{"free", "taking", "held", "renewing", "lost", "returning"}

func (s state) String() string { return stateNames[s] }

type operation uint8

const (
	opNone operation = iota
	opTake
	opRenew
	opRelease
)

var operationNames = [...]string{"none", "take", "renew", "release"}

func (o operation) String() string { return operationNames[o] }

// A machine decides what one handle of a lease does. It is a pure state machine: events come in
// with the time, and actions come out. At most one request is in flight at any time.
//
// Invariants: until is set in held and renewing only. While a request is in flight no other is
// sent, however old it is.
type machine struct {
	settings Settings
	claim    Claim // without a floor
	state    state

	request  request
	acquires []pendingAcquire // Acquires that wait, in order; only the first one is worked on
	releases []int            // Releases that wait
	grant    *Grant           // the lease that the store may have noted, or nil
	owed     bool             // a Take may have been carried out, with an unknown token
	until    moment           // with bound: when the last good request was sent
	token    uint64           // of the last acquisition
	spent    uint64           // no later acquisition has a token up to this one
	renewAt  *moment          // when the next renewal is due: since this moment, renewIn
	renewIn  time.Duration

	tried   int           // attempts of the current operation
	failure error         // of the last attempt
	again   *moment       // the next attempt is due againIn after this
	againIn time.Duration // doubles in returning
	begun   moment        // of returning
}

// A request is a request in flight; op is opNone without one.
type request struct {
	op        operation
	sent      moment
	timeout   time.Duration
	cancelled bool
	floor     uint64
	serves    int // the id of the first Acquire when it was sent; 0 without one
}

func newMachine(c Claim, s Settings) *machine { return &machine{settings: s, claim: c} }

func (m *machine) step(now moment, ev any) []any {
	// First: after the machine was suspended, no event may find a lease valid whose time is over.
	out := m.expire(now)
	switch ev := ev.(type) {
	case evAcquire:
		m.acquires = append(m.acquires, pendingAcquire{id: ev.id, floor: ev.floor})
	case evAbandon:
		m.abandon(ev.id)
	case evRelease:
		out = append(out, m.release(now, ev.id)...)
	case evAnswer:
		out = append(out, m.answer(now, ev)...)
	case evWake:
	}
	return append(out, m.proceed(now)...)
}

func (m *machine) enter(next state) {
	m.state = next
	m.tried, m.failure, m.again, m.renewAt = 0, nil, nil, nil
}

func (m *machine) answer(now moment, ev evAnswer) []any {
	req := m.request
	m.request = request{}
	switch req.op {
	case opTake:
		return m.taken(now, req, ev)
	case opRenew:
		return m.renewed(now, req, ev)
	case opRelease:
		m.released(now, ev.err)
	case opNone:
	}
	return nil
}

func (m *machine) failed(now moment, err error) {
	m.tried++
	m.failure = err
	m.again, m.againIn = &now, m.settings.Retry
	if m.state == returning {
		m.againIn <<= min(m.tried-1, 8)
	}
}

func (m *machine) proceed(now moment) []any {
	var out []any
	for {
		before := m.state
		out = append(out, m.overdue(now)...)
		switch m.state {
		case free:
			m.proceedFree()
		case taking:
			out = append(out, m.proceedTaking(now)...)
		case held, renewing:
			out = append(out, m.proceedHeld(now)...)
		case lost:
			m.proceedLost()
		case returning:
			out = append(out, m.proceedReturning(now)...)
		}
		if m.state == before {
			return out
		}
	}
}

func (m *machine) overdue(now moment) []any {
	if m.request.op == opNone || m.request.cancelled || now.since(m.request.sent) < m.request.timeout {
		return nil
	}
	m.request.cancelled = true
	return []any{acCancel{}}
}

func (m *machine) proceedFree() {
	if len(m.acquires) > 0 {
		m.enter(taking)
	}
}

func (m *machine) proceedLost() {
	switch {
	case len(m.acquires) > 0:
		m.enter(taking)
	case m.grant == nil && m.request.op == opNone:
		m.enter(free)
	}
}

// patience is the maximum time that the first Acquire waits.
func (m *machine) patience() time.Duration {
	return attempts*m.settings.OperationTimeout + (attempts-1)*m.settings.Retry
}

func (m *machine) due(now moment) bool { return m.again == nil || now.since(*m.again) >= m.againIn }

func (m *machine) send(now moment, op operation, timeout time.Duration) {
	m.request = request{op: op, sent: now, timeout: timeout}
	m.again = nil
}

const never = time.Duration(math.MaxInt64)

// wake returns the monotonic time until the next evWake is due, or never.
func (m *machine) wake(now moment) time.Duration {
	d := never
	at := func(since moment, in time.Duration) { d = min(d, max(0, in-now.since(since))) }
	if m.valid() {
		at(m.until, m.settings.bound())
	}
	if m.state == held {
		at(*m.renewAt, m.renewIn)
	}
	if m.request.op != opNone {
		if !m.request.cancelled {
			at(m.request.sent, m.request.timeout)
		}
	} else if m.again != nil && (m.state == taking || m.state == returning) {
		at(*m.again, m.againIn)
	}
	if m.state == taking && len(m.acquires) > 0 {
		at(*m.acquires[0].since, m.patience())
	}
	if m.state == returning && len(m.releases) > 0 {
		at(m.begun, m.patience())
	}
	return d
}

// Events, with the time at which they occur.
type (
	evAcquire struct {
		id    int
		floor uint64
	}
	evAbandon struct{ id int } // the caller of that Acquire has given up
	evRelease struct{ id int }
	evAnswer  struct { // to the request under way
		grant Grant
		err   error
	}
	evWake struct{} // time has passed
)

// Actions, to be carried out in order.
type (
	acSend struct {
		op    operation
		claim Claim // for a take
		grant Grant // for the others
	}
	acCancel struct{} // cancel the context of the request in flight
	acValid  struct {
		sent  moment
		token uint64
	} // Valid from now on, counted from sent
	acInvalid  struct{}               // Valid is false from now on
	acLost     struct{ reason error } // call the handlers
	acAcquired struct {
		id   int
		held bool
		err  error
	} // answer an Acquire
	acReleased struct {
		id  int
		err error
	} // answer a Release
)
