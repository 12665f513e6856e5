package lease

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"
)

// attempts is how often a request with a waiting caller is made before the caller gets an error:
// asking again finds out what a lost answer has said.
const attempts = 2

// state is the state of a machine.
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

// operation is the kind of a request to the store.
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

	request request
	wishes  []wish  // Acquires that wait, in order; only the first one is worked on
	leavers []int   // Releases that wait
	grant   *Grant  // the lease that the store may have noted, or nil
	owed    bool    // a Take may have been carried out, with an unknown token
	until   moment  // with bound: when the last good request was sent
	token   uint64  // of the last acquisition
	spent   uint64  // no later acquisition has a token up to this one
	renewAt *moment // when the next renewal is due: since this moment, renewIn
	renewIn time.Duration

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
	serves    int // the id of the first wish when it was sent; 0 without one
}

// A wish is an Acquire that waits.
type wish struct {
	id    int
	floor uint64
	since *moment // when it became the first one
}

func newMachine(c Claim, s Settings) *machine { return &machine{settings: s, claim: c} }

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

// step handles one event, and returns the actions.
func (m *machine) step(now moment, ev any) []any {
	out := m.expire(now)
	switch ev := ev.(type) {
	case evAcquire:
		m.wishes = append(m.wishes, wish{id: ev.id, floor: ev.floor})
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

// expire ends a lease whose time is over.
func (m *machine) expire(now moment) []any {
	if !m.valid() || now.since(m.until) < m.settings.bound() {
		return nil
	}
	reason := ErrExpired
	if m.failure != nil {
		reason = fmt.Errorf("%w: %w", ErrExpired, m.failure)
	}
	return m.lose(reason)
}

func (m *machine) valid() bool { return m.state == held || m.state == renewing }

// lose ends a lease that is valid.
func (m *machine) lose(reason error) []any {
	out := m.invalidate(lost)
	if errors.Is(reason, ErrLost) {
		m.grant = nil
	}
	return append(out, acLost{reason})
}

// invalidate goes to a state in which the lease is not valid.
func (m *machine) invalidate(next state) []any {
	var out []any
	if m.valid() {
		out = append(out, acInvalid{})
		if m.request.op == opRenew && !m.request.cancelled {
			m.request.cancelled = true
			out = append(out, acCancel{})
		}
	}
	m.enter(next)
	return out
}

func (m *machine) enter(next state) {
	m.state = next
	m.tried, m.failure, m.again, m.renewAt = 0, nil, nil, nil
}

func (m *machine) abandon(id int) {
	for i, w := range m.wishes {
		if w.id == id {
			m.wishes = append(m.wishes[:i:i], m.wishes[i+1:]...)
			return
		}
	}
}

func (m *machine) release(now moment, id int) []any {
	var out []any
	for _, w := range m.wishes {
		out = append(out, acAcquired{id: w.id, err: ErrReleased})
	}
	m.wishes = nil
	if m.state != returning {
		out = append(out, m.giveBack(now)...)
	} else if len(m.leavers) == 0 {
		m.tried, m.again, m.begun = 0, nil, now
	}
	m.leavers = append(m.leavers, id)
	return out
}

// giveBack goes to returning.
func (m *machine) giveBack(now moment) []any {
	out := m.invalidate(returning)
	m.begun = now
	return out
}

// answer handles the answer to the request in flight.
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

func (m *machine) taken(now moment, req request, ev evAnswer) []any {
	err := ev.err
	switch {
	case err == nil:
		m.grant, m.owed = &ev.grant, false
		if ev.grant.Token <= req.floor {
			err = fmt.Errorf("the store handed out token %d, which is not above %d", ev.grant.Token, req.floor)
		} else if now.since(req.sent) >= m.settings.bound() {
			err = ErrExpired
		}
	case errors.Is(err, ErrHeld):
		m.grant, m.owed = nil, false
	default:
		m.owed = true
	}
	if m.state != taking || len(m.wishes) == 0 {
		if m.owed {
			m.failed(now, err)
		}
		return nil // proceed gives it back
	}
	first := m.wishes[0]
	switch {
	case err == nil && ev.grant.Token > first.floor:
		return m.win(req.sent)
	case err == nil || req.serves != first.id:
		return nil // it was sent for another; proceed asks again
	case errors.Is(err, ErrHeld):
		return m.refuse(nil)
	}
	m.failed(now, err)
	return nil
}

// win makes the lease valid.
func (m *machine) win(sent moment) []any {
	m.enter(held)
	m.token, m.until = m.grant.Token, sent
	m.spent = max(m.spent, m.token)
	m.renewAfter(sent, m.settings.Renewal)
	return []any{acValid{sent: sent, token: m.token}}
}

func (m *machine) renewAfter(since moment, d time.Duration) { m.renewAt, m.renewIn = &since, d }

// refuse answers the first wish: with false if err is nil, otherwise with the error.
func (m *machine) refuse(err error) []any {
	id := m.wishes[0].id
	m.wishes = m.wishes[1:]
	m.tried, m.failure, m.again = 0, nil, nil
	return []any{acAcquired{id: id, err: err}}
}

// failed records that an attempt to take or return the lease ended with err.
func (m *machine) failed(now moment, err error) {
	m.tried++
	m.failure = err
	m.again, m.againIn = &now, m.settings.Retry
	if m.state == returning {
		m.againIn <<= min(m.tried-1, 8)
	}
}

func (m *machine) renewed(now moment, req request, ev evAnswer) []any {
	if m.grant != nil {
		switch {
		case ev.err == nil:
			m.grant = &ev.grant
		case errors.Is(ev.err, ErrLost), errors.Is(ev.err, ErrHeld):
			m.grant = nil
		}
	}
	if m.state != renewing {
		return nil
	}
	m.state = held
	switch {
	case m.grant == nil:
		if errors.Is(ev.err, ErrLost) {
			return m.lose(ev.err)
		}
		return m.lose(fmt.Errorf("%w: %w", ErrLost, ev.err))
	case ev.err != nil:
		m.failure = ev.err
		m.renewAfter(now, m.settings.Retry)
		return nil
	case ev.grant.Token != m.token:
		return m.lose(fmt.Errorf("lease: the store renewed token %d as %d", m.token, ev.grant.Token))
	}
	m.failure = nil
	m.until = req.sent
	m.renewAfter(req.sent, m.settings.Renewal)
	return append([]any{acValid{sent: req.sent, token: m.token}}, m.expire(now)...)
}

func (m *machine) released(now moment, err error) {
	if err == nil || errors.Is(err, ErrLost) || errors.Is(err, ErrHeld) {
		m.grant = nil
	} else if m.state == returning {
		m.failed(now, err)
	}
}

// proceed sends the request that the state calls for, if it is due.
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

// overdue cancels a request that takes too long.
func (m *machine) overdue(now moment) []any {
	if m.request.op == opNone || m.request.cancelled || now.since(m.request.sent) < m.request.timeout {
		return nil
	}
	m.request.cancelled = true
	return []any{acCancel{}}
}

func (m *machine) proceedFree() {
	if len(m.wishes) > 0 {
		m.enter(taking)
	}
}

func (m *machine) proceedLost() {
	switch {
	case len(m.wishes) > 0:
		m.enter(taking)
	case m.grant == nil && m.request.op == opNone:
		m.enter(free)
	}
}

func (m *machine) proceedTaking(now moment) []any {
	if len(m.wishes) == 0 {
		if m.request.op != opNone {
			return nil // if it wins the lease, the answer leads to a release
		}
		if m.grant == nil && !m.owed {
			m.enter(free)
			return nil
		}
		return m.giveBack(now)
	}
	first := &m.wishes[0]
	if first.since == nil {
		first.since = &now
		m.tried, m.failure, m.again = 0, nil, nil
	}
	if m.tried >= attempts || now.since(*first.since) >= m.patience() {
		err := m.failure
		if err == nil {
			err = context.DeadlineExceeded
		}
		return append(m.refuse(fmt.Errorf("acquire lease %q: %w", m.claim.Name, err)), m.proceedTaking(now)...)
	}
	if m.request.op != opNone || !m.due(now) {
		return nil
	}
	return m.sendTake(now, first.floor, first.id)
}

// patience is the maximum time that the first wish waits.
func (m *machine) patience() time.Duration {
	return attempts*m.settings.OperationTimeout + (attempts-1)*m.settings.Retry
}

// due reports whether the next attempt may be made.
func (m *machine) due(now moment) bool { return m.again == nil || now.since(*m.again) >= m.againIn }

func (m *machine) sendTake(now moment, floor uint64, serves int) []any {
	c := m.claim
	c.Floor = max(floor, m.spent)
	m.send(now, opTake, m.settings.OperationTimeout)
	m.request.floor, m.request.serves = c.Floor, serves
	return []any{acSend{op: opTake, claim: c}}
}

func (m *machine) send(now moment, op operation, timeout time.Duration) {
	m.request = request{op: op, sent: now, timeout: timeout}
	m.again = nil
}

func (m *machine) proceedHeld(now moment) []any {
	var out []any
	for len(m.wishes) > 0 && m.wishes[0].floor < m.token {
		out = append(out, acAcquired{id: m.wishes[0].id, held: true})
		m.wishes = m.wishes[1:]
	}
	if len(m.wishes) > 0 {
		return append(out, m.invalidate(taking)...)
	}
	if m.state == held && now.since(*m.renewAt) >= m.renewIn {
		m.state = renewing
		m.send(now, opRenew, min(m.settings.OperationTimeout, m.settings.bound()-now.since(m.until)))
		out = append(out, acSend{op: opRenew, grant: *m.grant})
	}
	return out
}

func (m *machine) proceedReturning(now moment) []any {
	nothing := m.grant == nil && !m.owed
	if m.request.op == opNone && nothing {
		out := m.answerLeavers(nil)
		m.enter(free)
		return out
	}
	var out []any
	if m.tried >= attempts && len(m.leavers) > 0 {
		out = m.answerLeavers(fmt.Errorf("release lease %q: %w", m.claim.Name, m.failure))
	}
	if now.since(m.begun) >= m.patience() && len(m.leavers) > 0 {
		out = append(out, m.answerLeavers(fmt.Errorf("release lease %q: %w", m.claim.Name, context.DeadlineExceeded))...)
	}
	switch {
	case len(m.wishes) > 0 && len(m.leavers) == 0:
		m.enter(taking)
	case m.request.op != opNone || !m.due(now):
	case now.since(m.begun) >= m.settings.TTL: // it has expired by itself
		out = append(out, m.answerLeavers(fmt.Errorf("release lease %q: %w", m.claim.Name, ErrExpired))...)
		m.grant, m.owed = nil, false
		m.enter(free)
	case m.owed:
		out = append(out, m.sendTake(now, 0, 0)...)
	default:
		m.spent = max(m.spent, m.grant.Token) // a copy that arrives late must not release the next acquisition
		m.send(now, opRelease, m.settings.OperationTimeout)
		out = append(out, acSend{op: opRelease, grant: *m.grant})
	}
	return out
}

func (m *machine) answerLeavers(err error) []any {
	var out []any
	for _, id := range m.leavers {
		out = append(out, acReleased{id: id, err: err})
	}
	m.leavers = nil
	return out
}

// never is longer than any wait.
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
	if m.state == taking && len(m.wishes) > 0 {
		at(*m.wishes[0].since, m.patience())
	}
	if m.state == returning && len(m.leavers) > 0 {
		at(m.begun, m.patience())
	}
	return d
}
