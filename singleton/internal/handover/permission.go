package handover

import (
	"slices"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/singletons/wire"
	"github.com/understudy-go/understudy/internal/tenure"
	"github.com/understudy-go/understudy/remote"
)

// permission is what a node that is to host knows of its request to the other members.
type permission struct {
	attempt uint64                 // number of the request under way, or of the last one
	term    uint64                 // the term it asks for
	grants  map[remote.NodeID]bool // the members that have granted it
	heldUps []heldUp               // the members that cannot grant it yet
	retryAt time.Time              // when it is sent again
	retries int
}

// A heldUp is a member whose instance does not stop.
type heldUp struct {
	from         remote.NodeID
	since, until time.Time // when the instance was told to stop, and when it is given up
}

func (p *permission) begin(term uint64, now time.Time) {
	*p = permission{attempt: p.attempt + 1, term: term, grants: make(map[remote.NodeID]bool), retryAt: now}
}

func (p *permission) heldUpBy(id remote.NodeID) *heldUp {
	for i, h := range p.heldUps {
		if h.from == id {
			return &p.heldUps[i]
		}
	}
	return nil
}

type terms struct {
	known    wire.Record // the highest term that was started
	promised promise
}

// A promise is the highest term that another node may use, or may have used. to is zero when this
// node knows it from a third one.
type promise struct {
	to   remote.NodeID
	term uint64
}

func (t *terms) learn(r wire.Record) { t.known = t.known.Merge(r) }

func (t *terms) highest() uint64 { return max(t.known.Term, t.promised.term) }

// overtook reports whether a journal has accepted a later generation than g. Then the instance of g
// can store nothing, and lacks the other's events. It finds out when it stores something, and until
// then would answer from its old state.
func (t *terms) overtook(g tenure.Generation) bool {
	last, fenced := t.known.Generation()
	return fenced && g.Less(last)
}

func (t *terms) taken(term uint64) {
	if term > t.promised.term {
		t.promised = promise{term: term}
	}
}

// promise promises a term to a node. It returns the highest term that others may have used: when
// that is not below the promised one, the node must ask for a higher one.
func (t *terms) promise(to remote.NodeID, term uint64) (taken uint64) {
	// A promise to the same node does not count: if the grant was lost, it asks for that term
	// again.
	taken = t.known.Term
	if t.promised.to != to {
		taken = t.highest()
	}
	if term > t.highest() {
		t.promised = promise{to: to, term: term}
	}
	return taken
}

func (m *Machine) ask(now time.Time) []Action {
	if m.terms.highest() >= wire.MaxTerm {
		m.phase, m.outside.Obstacle = Pending, tenure.ErrOverflow
		return m.outside.release()
	}
	m.phase = Asking
	m.asking.begin(m.terms.highest()+1, now)
	return m.proceed(now, false)
}

var askBackoff = actor.Backoff{Min: 100 * time.Millisecond, Max: time.Second}

// proceed becomes host when no member is left to ask, and otherwise asks those that have not
// answered; again, only when it is time. When the term turns out to be used, it starts over with a
// higher one.
func (m *Machine) proceed(now time.Time, again bool) []Action {
	// A view or an answer may have shown a term that was used meanwhile. An instance of p.term
	// would then not be newer than another one, and its journal would refuse it.
	p := &m.asking
	if p.term <= m.terms.highest() {
		return m.ask(now)
	}
	// Both are looked at each time: while others answer, a member may be removed that has not
	// answered. It is no longer missing then, and its margin counts instead.
	missing := m.missing()
	if len(missing) == 0 && !now.Before(m.earliestStart()) {
		return m.acquire(now)
	}
	if again && now.Before(p.retryAt) {
		return nil
	}
	p.retryAt = now.Add(askBackoff.Delay(p.retries))
	p.retries++
	var out []Action
	for _, id := range missing {
		out = append(out, Send{wire.New(m.header(id), wire.Request{Attempt: p.attempt, Term: p.term})})
	}
	return out
}

// missing returns the members that might run an instance and have not granted the request. That
// includes joining members: they may know already that they are up.
func (m *Machine) missing() []remote.NodeID {
	var ids []remote.NodeID
	for _, p := range m.topo.Members {
		if p.ID != m.topo.Self && m.cfg.mayRun(p) && !m.asking.grants[p.ID] {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// earliestStart returns when an instance may start: when the margins of the former members that did
// not answer are over, and the delay after a failure.
func (m *Machine) earliestStart() time.Time {
	at := m.instance.startAt
	// Neither needs a margin. The journal refuses what a removed instance writes, and a lease can
	// only be acquired after the one before has ended.
	if m.terms.known.Fenced || m.cfg.Leased {
		return at
	}
	margin := m.cfg.removalMargin(&m.topo)
	for _, g := range m.topo.Gone {
		if until := g.Since.Add(margin); m.cfg.mayRun(g.Peer) && g.Advertisement != "" && until.After(at) {
			at = until
		}
	}
	return at
}

func (m *Machine) becomeHost(now time.Time) []Action {
	m.phase = Host
	m.asking.retryAt = time.Time{}
	m.outside.claim, m.outside.Obstacle = 0, nil
	m.instance.Generation = tenure.Generation{Term: m.asking.term, Seq: 1}
	m.terms.known = wire.Record{Term: m.asking.term}
	return append([]Action{SaveRecord{m.terms.known}}, m.instance.start(now)...)
}

func (m *Machine) onGrant(msg wire.Message[wire.Grant], now time.Time) []Action {
	g := msg.Body
	if max(g.Taken, g.Record.Term) > wire.MaxTerm {
		return nil // no manager says so
	}
	// Answers to earlier requests teach as well: a term that was used stays used.
	news := g.Record.Finished && !m.terms.known.Finished
	m.terms.learn(g.Record)
	m.terms.taken(g.Taken)
	switch {
	case news: // the sender may be gone before it has told any other member
		return append([]Action{SaveRecord{m.terms.known}}, m.review(now)...)
	case m.terms.known.Finished, m.phase == Host:
		return m.review(now)
	}
	if m.phase != Asking || g.Attempt != m.asking.attempt {
		return nil
	}
	m.asking.grants[msg.Header.From] = true
	return m.proceed(now, true)
}

// onRequest answers a member that asks to host. Requests that are not answered are repeated.
func (m *Machine) onRequest(r wire.Message[wire.Request], now time.Time) []Action {
	// Of two nodes that both consider themselves the host, neither may grant: both would start an
	// instance. The requests are repeated, and one is answered once the views agree.
	if _, known := m.topo.Member(r.Header.From); !known || m.hostIsSelf() || r.Body.Term > wire.MaxTerm {
		return nil
	}
	switch m.phase {
	case Pending, Standby, Asking, Acquiring, Ended:
		// The lease comes back first: the other node acquires it as soon as it has the grants, and
		// would otherwise wait until it expires.
		out := m.outside.release()
		m.waiters.add(r)
		if m.outside.Releasing {
			return out
		}
		return append(out, m.grantWaiters()...)
	case Host:
		m.waiters.add(r)
		return m.stopFor(HandingOver, false, now)
	case HandingOver, Stopping:
		m.waiters.add(r)
		if m.stopping.step == stuck {
			return []Action{m.holdUp(r, now)}
		}
	}
	return nil
}

type waiters []wire.Message[wire.Request]

// add keeps a request; of several requests of one node the last.
func (w *waiters) add(r wire.Message[wire.Request]) {
	same := func(o wire.Message[wire.Request]) bool { return o.Header.From == r.Header.From }
	if i := slices.IndexFunc(*w, same); i >= 0 {
		(*w)[i] = r
		return
	}
	*w = append(*w, r)
}

func (m *Machine) grantWaiters() []Action {
	var out []Action
	for _, r := range m.waiters {
		taken := m.terms.promise(r.Header.From, r.Body.Term)
		out = append(out, Send{wire.New(m.header(r.Header.From), wire.Grant{Attempt: r.Body.Attempt, Record: m.terms.known, Taken: taken})})
	}
	m.waiters = nil
	return out
}

func (m *Machine) holdUp(r wire.Message[wire.Request], now time.Time) Action {
	return Send{wire.New(m.header(r.Header.From), wire.HeldUp{
		Attempt: r.Body.Attempt, Since: now.Sub(m.stopping.since), Until: m.stopping.at.Sub(now),
	})}
}

// onHeldUp reports, once for each request, a member whose instance does not stop.
func (p *permission) onHeldUp(msg wire.Message[wire.HeldUp], now time.Time) []Action {
	from := msg.Header.From
	if msg.Body.Attempt != p.attempt || p.grants[from] || p.heldUpBy(from) != nil {
		return nil
	}
	h := heldUp{from: from, since: now.Add(-msg.Body.Since), until: now.Add(msg.Body.Until)}
	p.heldUps = append(p.heldUps, h)
	return []Action{ReportStuck{Host: from, Since: h.since, Until: h.until}}
}
