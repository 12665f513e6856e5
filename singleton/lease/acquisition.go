package lease

import (
	"context"
	"errors"
	"fmt"
)

// A pendingAcquire is an Acquire that waits.
type pendingAcquire struct {
	id    int
	floor uint64
	since *moment // when it became the first one
}

func (m *machine) abandon(id int) {
	for i, w := range m.acquires {
		if w.id == id {
			m.acquires = append(m.acquires[:i:i], m.acquires[i+1:]...)
			return
		}
	}
}

func (m *machine) taken(now moment, req request, ev evAnswer) []any {
	err := ev.err
	switch {
	case err == nil:
		m.grant, m.owed = &ev.grant, false
		if ev.grant.Token <= req.floor {
			err = fmt.Errorf("the store handed out token %d, which is not above %d", ev.grant.Token, req.floor)
		} else if now.since(req.sent) >= m.settings.bound() {
			err = ErrExpired // the store may count from when the request was sent
		}
	case errors.Is(err, ErrHeld):
		m.grant, m.owed = nil, false
	default:
		m.owed = true // the store may hold the lease for this handle; another Take or a Release finds out
	}
	if m.state != taking || len(m.acquires) == 0 {
		if m.owed {
			m.failed(now, err)
		}
		return nil // proceed gives it back
	}
	first := m.acquires[0]
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

func (m *machine) win(sent moment) []any {
	m.enter(held)
	m.token, m.until = m.grant.Token, sent
	m.spent = max(m.spent, m.token)
	m.renewAfter(sent, m.settings.Renewal)
	return []any{acValid{sent: sent, token: m.token}}
}

// refuse answers the first Acquire: with false if err is nil, otherwise with the error.
func (m *machine) refuse(err error) []any {
	id := m.acquires[0].id
	m.acquires = m.acquires[1:]
	m.tried, m.failure, m.again = 0, nil, nil
	return []any{acAcquired{id: id, err: err}}
}

func (m *machine) proceedTaking(now moment) []any {
	if len(m.acquires) == 0 {
		if m.request.op != opNone {
			return nil // if it wins the lease, the answer leads to a release
		}
		if m.grant == nil && !m.owed {
			m.enter(free)
			return nil
		}
		return m.giveBack(now)
	}
	first := &m.acquires[0]
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

func (m *machine) sendTake(now moment, floor uint64, serves int) []any {
	c := m.claim
	c.Floor = max(floor, m.spent)
	m.send(now, opTake, m.settings.OperationTimeout)
	m.request.floor, m.request.serves = c.Floor, serves
	return []any{acSend{op: opTake, claim: c}}
}
