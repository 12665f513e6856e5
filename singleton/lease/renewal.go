package lease

import (
	"errors"
	"fmt"
	"time"
)

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

func (m *machine) lose(reason error) []any {
	out := m.invalidate(lost)
	if errors.Is(reason, ErrLost) {
		m.grant = nil
	}
	return append(out, acLost{reason})
}

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

func (m *machine) renewAfter(since moment, d time.Duration) { m.renewAt, m.renewIn = &since, d }

func (m *machine) renewed(now moment, req request, ev evAnswer) []any {
	if m.grant != nil {
		switch {
		case ev.err == nil:
			m.grant = &ev.grant
		case errors.Is(ev.err, ErrLost), errors.Is(ev.err, ErrHeld):
			m.grant = nil
		}
	}
	if m.state != renewing { // the lease was lost meanwhile; the grant serves to release it
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
	m.until = req.sent // the store cannot have noted the renewal earlier, so it does not end before this
	m.renewAfter(req.sent, m.settings.Renewal)
	return append([]any{acValid{sent: req.sent, token: m.token}}, m.expire(now)...)
}

func (m *machine) proceedHeld(now moment) []any {
	var out []any
	for len(m.acquires) > 0 && m.acquires[0].floor < m.token {
		out = append(out, acAcquired{id: m.acquires[0].id, held: true})
		m.acquires = m.acquires[1:]
	}
	if len(m.acquires) > 0 {
		return append(out, m.invalidate(taking)...)
	}
	if m.state == held && now.since(*m.renewAt) >= m.renewIn {
		m.state = renewing
		m.send(now, opRenew, min(m.settings.OperationTimeout, m.settings.bound()-now.since(m.until)))
		out = append(out, acSend{op: opRenew, grant: *m.grant})
	}
	return out
}
