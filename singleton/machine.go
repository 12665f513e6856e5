package singleton

import (
	"time"

	"github.com/understudy-go/understudy/actor"
)

// A Phase is where the manager of one node is.
type Phase string

// The phases of a manager.
const (
	Pending     Phase = "pending"      // this node is not up, or nobody can host
	Standby     Phase = "standby"      // another node hosts
	Asking      Phase = "asking"       // this node is to host, and asks the others for permission
	Host        Phase = "host"         // the instance is here; perhaps just being restarted
	HandingOver Phase = "handing over" // the instance has been told to stop, as another node asked
	Stopping    Phase = "stopping"     // the instance has been told to stop, as this node is down
)

// A machine is the hand-over protocol of one manager. It is pure: events and the time
// go in, actions come out.
//
// A node that is to host asks every other member that might run an instance, and starts
// one when each has answered that it runs none, or has been removed for long enough. An
// answer is a promise to start none without asking in turn; asks are numbered, so that
// an answer to an earlier one counts for nothing. Of two nodes that both believe to be
// the host neither answers the other, until their views agree.
type machine struct {
	name string
	set  settings

	topo    Topology
	known   Record // the highest generation heard of
	phase   Phase
	leaving PeerID // the incarnation of this node that is to start nothing any more

	attempt uint64          // number of the ask under way, or of the last one
	grants  map[PeerID]bool // who has answered it
	waiters []requested     // who waits for our instance to end

	gen      Generation // of the instance, or of the last one
	alive    bool       // the instance runs
	started  time.Time  // when it did
	failures int        // starts since it last ran well

	retryAt time.Time // ask again
	retries int
	startAt time.Time // not before
	killAt  time.Time // the patience with a stopping instance ends
}

func newMachine(name string, set settings) *machine {
	return &machine{name: name, set: set, phase: Pending}
}

// event is what happens to a machine.
//
//sumtype:decl
type event interface{ event() }

type (
	viewed    struct{ topo Topology }
	requested struct { // from asks to host
		from    PeerID
		attempt uint64
	}
	granted struct { // from runs nothing
		from    PeerID
		attempt uint64
		record  Record
	}
	instanceEnded struct{ fenced bool } // fenced: the journal has a newer writer
	fenceHeld     struct{}              // the instance fences its writes
	drainAsked    struct{}              // this node is to start nothing any more
	ticked        struct{}
)

func (viewed) event()        {}
func (requested) event()     {}
func (granted) event()       {}
func (instanceEnded) event() {}
func (fenceHeld) event()     {}
func (drainAsked) event()    {}
func (ticked) event()        {}

// action is what a machine wants done.
//
//sumtype:decl
type action interface{ action() }

type (
	sendRequest struct {
		to      PeerID
		attempt uint64
	}
	sendGrant struct {
		to      PeerID
		attempt uint64
		record  Record
	}
	startInstance struct{ gen Generation }
	stopInstance  struct{ now bool } // now: not by message, but at once
	saveRecord    struct{ record Record }
)

func (sendRequest) action()   {}
func (sendGrant) action()     {}
func (startInstance) action() {}
func (stopInstance) action()  {}
func (saveRecord) action()    {}

// step handles one event, and returns what is to be done, in order.
func (m *machine) step(ev event, now time.Time) []action {
	switch ev := ev.(type) {
	case viewed:
		m.topo = ev.topo
		m.known = m.known.Merge(ev.topo.Records[m.name])
		return m.review(now)
	case drainAsked:
		m.leaving = m.topo.Self
		return m.review(now)
	case requested:
		return m.onRequest(ev, now)
	case granted:
		return m.onGrant(ev, now)
	case instanceEnded:
		return m.onEnded(ev, now)
	case fenceHeld:
		m.known = m.known.Merge(Record{Term: m.gen.Term, Fenced: true})
		return []action{saveRecord{Record{Term: m.gen.Term, Fenced: true}}}
	case ticked:
		return m.onTick(now)
	}
	return nil
}

// host returns who is to host, as far as this node knows.
func (m *machine) host() (Peer, bool) { return m.topo.host(m.name, m.set.role, m.leaving) }

func (m *machine) hostIsSelf() bool {
	h, ok := m.host()
	return ok && h.ID == m.topo.Self && !m.topo.Down
}

// review is what a changed view means to each phase.
func (m *machine) review(now time.Time) []action {
	switch m.phase {
	case Pending, Standby, Asking:
		return m.settle(now)
	case Host:
		return m.reviewHost(now)
	case HandingOver:
		if m.topo.Down {
			m.phase = Stopping
			return []action{stopInstance{now: true}}
		}
	case Stopping:
	}
	return nil
}

// reviewHost keeps the instance while this node is to host, and when another is, until
// that one asks. When nobody else can, a node that leaves stops its instance by itself.
func (m *machine) reviewHost(now time.Time) []action {
	if m.topo.Down {
		return m.stopFor(Stopping, true, now)
	}
	if _, somebody := m.host(); somebody {
		return nil
	}
	return m.stopFor(HandingOver, false, now)
}

// stopFor ends the instance, by going through phase. Without an instance that is over
// at once.
func (m *machine) stopFor(phase Phase, immediately bool, now time.Time) []action {
	m.phase = phase
	m.startAt = time.Time{}
	if !m.alive {
		return m.afterInstance(now)
	}
	m.killAt = now.Add(m.set.stopTimeout)
	return []action{stopInstance{now: immediately}}
}

// settle finds the phase of a node that runs no instance.
func (m *machine) settle(now time.Time) []action {
	switch h, ok := m.host(); {
	case !ok || m.topo.Down:
		m.phase = Pending
	case h.ID != m.topo.Self:
		m.phase = Standby
	case m.phase != Asking:
		return m.ask(now)
	default:
		return m.proceed(now, true)
	}
	m.retryAt = time.Time{}
	return nil
}

// ask begins to ask the others for permission.
func (m *machine) ask(now time.Time) []action {
	m.phase = Asking
	m.attempt++
	m.grants = make(map[PeerID]bool)
	m.retries = 0
	m.retryAt = now
	return m.proceed(now, false)
}

// askBackoff is the delay between asks that are not answered.
var askBackoff = actor.Backoff{Min: 100 * time.Millisecond, Max: time.Second}

// proceed becomes host when nobody is left to ask, and else asks those who have not
// answered; again, only when it is time.
func (m *machine) proceed(now time.Time, again bool) []action {
	missing := m.missing()
	if len(missing) == 0 && !now.Before(m.notBefore()) {
		return m.becomeHost(now)
	}
	if again && now.Before(m.retryAt) {
		return nil
	}
	m.retryAt = now.Add(askBackoff.Delay(m.retries))
	m.retries++
	var out []action
	for _, id := range missing {
		out = append(out, sendRequest{to: id, attempt: m.attempt})
	}
	return out
}

// missing returns who might run an instance and has not said otherwise.
func (m *machine) missing() []PeerID {
	var ids []PeerID
	for _, p := range m.topo.Members {
		if p.ID != m.topo.Self && !p.Joining && p.candidate(m.set.role) && !m.grants[p.ID] {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// notBefore returns when the margins of those who are gone without an answer are over,
// and with them the delay after a failure.
func (m *machine) notBefore() time.Time {
	at := m.startAt
	if m.known.Fenced {
		return at
	}
	margin := m.set.margin
	if margin < 0 {
		margin = m.topo.Margin
	}
	for _, g := range m.topo.Gone {
		if until := g.Since.Add(margin); g.candidate(m.set.role) && g.offers(m.name) && until.After(at) {
			at = until
		}
	}
	return at
}

func (m *machine) becomeHost(now time.Time) []action {
	m.phase = Host
	m.retryAt = time.Time{}
	m.gen = Generation{Term: m.known.Term + 1, Seq: 1}
	m.known = Record{Term: m.gen.Term}
	return append([]action{saveRecord{m.known}}, m.start(now)...)
}

func (m *machine) start(now time.Time) []action {
	m.alive, m.started, m.startAt = true, now, time.Time{}
	return []action{startInstance{m.gen}}
}

// onRequest answers a member that asks to host. What is not answered is asked again.
func (m *machine) onRequest(r requested, now time.Time) []action {
	if _, known := m.topo.member(r.from); !known || m.hostIsSelf() {
		return nil
	}
	switch m.phase {
	case Pending, Standby, Asking:
		return []action{m.grant(r)}
	case Host:
		m.wait(r)
		return m.stopFor(HandingOver, false, now)
	case HandingOver:
		m.wait(r)
	case Stopping: // it will see this node removed
	}
	return nil
}

func (m *machine) grant(r requested) action {
	return sendGrant{to: r.from, attempt: r.attempt, record: m.known}
}

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

func (m *machine) onGrant(g granted, now time.Time) []action {
	m.known = m.known.Merge(g.record)
	if m.phase != Asking || g.attempt != m.attempt {
		return nil
	}
	m.grants[g.from] = true
	return m.proceed(now, true)
}

// onEnded handles the end of the instance: wanted, or to be made good.
func (m *machine) onEnded(e instanceEnded, now time.Time) []action {
	m.alive = false
	m.killAt = time.Time{}
	if m.phase != Host {
		return m.afterInstance(now)
	}
	if now.Sub(m.started) >= m.set.restart.ResetAfter() {
		m.failures = 0
	}
	m.startAt = now.Add(m.set.restart.Delay(m.failures))
	m.failures++
	if e.fenced { // somebody else has written: begin again from the asking, not in place
		return m.ask(now)
	}
	m.gen.Seq++
	return m.onTick(now)
}

// afterInstance answers those who waited for the instance to end.
func (m *machine) afterInstance(now time.Time) []action {
	var out []action
	for _, w := range m.waiters {
		out = append(out, m.grant(w))
	}
	m.waiters = nil
	m.phase = Pending
	return append(out, m.settle(now)...)
}

// onTick does what the time has come for.
func (m *machine) onTick(now time.Time) []action {
	switch {
	case m.phase == Asking:
		return m.proceed(now, true)
	case m.phase == Host && !m.alive && !now.Before(m.startAt):
		return m.start(now)
	case !m.killAt.IsZero() && !now.Before(m.killAt):
		m.killAt = time.Time{}
		return []action{stopInstance{now: true}}
	}
	return nil
}

// wake returns when the next tick is due; zero when none is.
func (m *machine) wake() time.Time {
	var at time.Time
	sooner := func(t time.Time) {
		if !t.IsZero() && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	sooner(m.killAt)
	switch {
	case m.phase == Host && !m.alive:
		sooner(m.startAt)
	case m.phase == Asking && len(m.missing()) > 0:
		sooner(m.retryAt)
	case m.phase == Asking:
		sooner(m.notBefore())
	}
	return at
}
