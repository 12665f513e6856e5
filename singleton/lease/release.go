package lease

import (
	"context"
	"errors"
	"fmt"
)

func (m *machine) release(now moment, id int) []any {
	var out []any
	for _, w := range m.acquires {
		out = append(out, acAcquired{id: w.id, err: ErrReleased})
	}
	m.acquires = nil
	if m.state != returning {
		out = append(out, m.giveBack(now)...)
	} else if len(m.releases) == 0 {
		m.tried, m.again, m.begun = 0, nil, now
	}
	m.releases = append(m.releases, id)
	return out
}

func (m *machine) giveBack(now moment) []any {
	out := m.invalidate(returning)
	m.begun = now
	return out
}

func (m *machine) released(now moment, err error) {
	if err == nil || errors.Is(err, ErrLost) || errors.Is(err, ErrHeld) {
		m.grant = nil
	} else if m.state == returning {
		m.failed(now, err)
	}
}

func (m *machine) proceedReturning(now moment) []any {
	nothing := m.grant == nil && !m.owed
	if m.request.op == opNone && nothing {
		out := m.answerReleases(nil)
		m.enter(free)
		return out
	}
	var out []any
	if m.tried >= attempts && len(m.releases) > 0 {
		out = m.answerReleases(fmt.Errorf("release lease %q: %w", m.claim.Name, m.failure))
	}
	if now.since(m.begun) >= m.patience() && len(m.releases) > 0 {
		out = append(out, m.answerReleases(fmt.Errorf("release lease %q: %w", m.claim.Name, context.DeadlineExceeded))...)
	}
	switch {
	case len(m.acquires) > 0 && len(m.releases) == 0:
		m.enter(taking)
	case m.request.op != opNone || !m.due(now):
	case now.since(m.begun) >= m.settings.TTL: // it has expired by itself
		out = append(out, m.answerReleases(fmt.Errorf("release lease %q: %w", m.claim.Name, ErrExpired))...)
		m.grant, m.owed = nil, false
		m.enter(free)
	case m.owed: // only a Take tells the token without which nothing can be released
		out = append(out, m.sendTake(now, 0, 0)...)
	default:
		m.spent = max(m.spent, m.grant.Token) // a copy that arrives late must not release the next acquisition
		m.send(now, opRelease, m.settings.OperationTimeout)
		out = append(out, acSend{op: opRelease, grant: *m.grant})
	}
	return out
}

func (m *machine) answerReleases(err error) []any {
	var out []any
	for _, id := range m.releases {
		out = append(out, acReleased{id: id, err: err})
	}
	m.releases = nil
	return out
}
