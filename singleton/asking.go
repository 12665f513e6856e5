package singleton

import (
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/node"
	"github.com/understudy-go/understudy/singleton/generation"
)

// ask begins to ask the others for permission, when there is a term left.
func (m *machine) ask(now time.Time) []action {
	if m.highestTerm() >= maxTerm {
		m.phase, m.outside.obstacle = Pending, generation.ErrOverflow
		return m.release()
	}
	m.phase = Asking
	m.attempt++
	m.term = m.highestTerm() + 1
	m.grants, m.heldUps = make(map[node.ID]bool), nil
	m.retries = 0
	m.retryAt = now
	return m.proceed(now, false)
}

// askBackoff is the delay between asks that are not answered.
var askBackoff = actor.Backoff{Min: 100 * time.Millisecond, Max: time.Second}

// proceed becomes host when nobody is left to ask, and else asks those who have not
// answered; again, only when it is time. When the term turns out to be used, it begins
// anew with a higher one.
func (m *machine) proceed(now time.Time, again bool) []action {
	if m.term <= m.highestTerm() {
		return m.ask(now)
	}
	missing := m.missing()
	if len(missing) == 0 && !now.Before(m.notBefore()) {
		return m.acquire(now)
	}
	if again && now.Before(m.retryAt) {
		return nil
	}
	m.retryAt = now.Add(askBackoff.Delay(m.retries))
	m.retries++
	var out []action
	for _, id := range missing {
		out = append(out, sendRequest{to: id, attempt: m.attempt, term: m.term})
	}
	return out
}

// missing returns who might run an instance and has not said otherwise. That includes who
// is joining: it may know already that it is up.
func (m *machine) missing() []node.ID {
	var ids []node.ID
	for _, p := range m.topo.Members {
		if p.ID != m.topo.Self && m.mayRun(p) && !m.grants[p.ID] {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// mayRun reports whether an instance may run on p, or on what p was: by our settings, or by
// those that it has.
func (m *machine) mayRun(p Peer) bool {
	offered, _ := p.offer()
	return p.candidate(m.set.role) || !fits(offered, m.set.signature)
}

// notBefore returns when the margins of those who are gone without an answer are over,
// and with them the delay after a failure.
func (m *machine) notBefore() time.Time {
	at := m.startAt
	if m.known.Fenced || m.set.leased() {
		return at
	}
	margin := m.removalMargin()
	for _, g := range m.topo.Gone {
		if until := g.Since.Add(margin); m.mayRun(g.Peer) && g.offered != "" && until.After(at) {
			at = until
		}
	}
	return at
}

// removalMargin is how long an instance on a node that was removed may still run.
func (m *machine) removalMargin() time.Duration {
	if m.set.margin < 0 {
		return m.topo.Margin
	}
	return m.set.margin
}

func (m *machine) becomeHost(now time.Time) []action {
	m.phase = Host
	m.retryAt = time.Time{}
	m.outside.claim, m.outside.obstacle = 0, nil
	m.gen = Generation{Term: m.term, Seq: 1}
	m.known = Record{Term: m.term}
	return append([]action{saveRecord{m.known}}, m.start(now)...)
}

func (m *machine) onGrant(g granted, now time.Time) []action {
	if max(g.taken, g.record.Term) > maxTerm {
		return nil // no manager says so
	}
	news := g.record.Finished && !m.known.Finished
	m.known = m.known.Merge(g.record)
	if g.taken > m.promised.term {
		m.promised = promise{term: g.taken}
	}
	switch {
	case news: // who knew it may be gone before it has told anybody else
		return append([]action{saveRecord{m.known}}, m.review(now)...)
	case m.known.Finished:
		return m.review(now)
	}
	if m.phase != Asking || g.attempt != m.attempt {
		return nil
	}
	m.grants[g.from] = true
	return m.proceed(now, true)
}

// onRequest answers a member that asks to host. What is not answered is asked again.
func (m *machine) onRequest(r requested, now time.Time) []action {
	if _, known := m.topo.member(r.from); !known || m.hostIsSelf() || r.term > maxTerm {
		return nil
	}
	switch m.phase {
	case Pending, Standby, Asking, Acquiring, Ended:
		out := m.release()
		m.wait(r)
		if m.outside.releasing {
			return out
		}
		return append(out, m.grantWaiters()...)
	case Host:
		m.wait(r)
		return m.stopFor(HandingOver, false, now)
	case HandingOver, Stopping:
		m.wait(r)
		if m.stopping.step == stuck {
			return []action{m.holdUp(r)}
		}
	}
	return nil
}

// A promise is the highest term that another node may use, or may have used. To is zero
// when that is hearsay.
type promise struct {
	to   node.ID
	term uint64
}

// grant permits r, and keeps in mind the term that r will use. It says which term others
// may have used: when that is not below r's own, r must ask again for a higher one.
func (m *machine) grant(r requested) action {
	taken := m.known.Term
	if m.promised.to != r.from {
		taken = m.highestTerm()
	}
	if r.term > m.highestTerm() {
		m.promised = promise{to: r.from, term: r.term}
	}
	return sendGrant{to: r.from, attempt: r.attempt, record: m.known, taken: taken}
}

func (m *machine) highestTerm() uint64 { return max(m.known.Term, m.promised.term) }

// wait remembers who asked; of several asks of one node the last.
func (m *machine) wait(r requested) {
	for i, w := range m.waiters {
		if w.from == r.from {
			m.waiters[i] = r
			return
		}
	}
	m.waiters = append(m.waiters, r)
}
