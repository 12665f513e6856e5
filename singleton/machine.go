package singleton

import (
	"time"

	"github.com/understudy-go/understudy/internal/node"
)

// A Phase is where the manager of one node is.
type Phase string

// The phases of a manager.
const (
	Pending     Phase = "pending"      // this node is not up, or nobody can host
	Standby     Phase = "standby"      // another node hosts
	Asking      Phase = "asking"       // this node is to host, and asks the others for permission
	Acquiring   Phase = "acquiring"    // it has permission, and asks for the lease or for a term
	Host        Phase = "host"         // the instance is here; perhaps just being restarted
	HandingOver Phase = "handing over" // the instance has been told to stop, for another node
	Stopping    Phase = "stopping"     // the instance has been told to stop, as this node is down or has lost the lease
	Ended       Phase = "ended"        // the singleton has finished: see [Finished]
)

// A machine is the hand-over protocol of one manager. It is pure: events and the time
// go in, actions come out.
//
// A node that is to host asks every other member that might run an instance, and starts
// one when each has answered that it runs none, or has been removed for long enough, and
// when it has got the lease and the term that are asked for outside of the cluster, if
// there are such. An
// answer is a promise to start none without asking in turn, and to take the term that
// was asked for as used; asks are numbered, so that an answer to an earlier one counts
// for nothing. Of two nodes that both believe to be the host neither answers the other,
// until their views agree; and who is to host does not answer either, while its view does
// not show yet that it has a manager.
type machine struct {
	name string
	set  settings

	topo    Topology
	known   Record // the highest generation heard of
	phase   Phase
	leaving node.ID // the incarnation of this node that is to start nothing any more

	attempt  uint64           // number of the ask under way, or of the last one
	term     uint64           // what it asks for
	grants   map[node.ID]bool // who has answered it
	heldUps  []heldUp         // the members that cannot answer it, and why
	promised promise
	waiters  []requested // who waits for our instance to end

	outside acquisition

	gen      Generation // of the instance, or of the last one
	born     Generation // under which it was started
	alive    bool       // the instance runs
	started  time.Time  // when it did
	failures int        // starts since it last ran well

	retryAt  time.Time // ask again
	retries  int
	startAt  time.Time // not before
	stopping stopping
}

func newMachine(name string, set settings) *machine {
	return &machine{name: name, set: set, phase: Pending}
}

// step handles one event, and returns what is to be done, in order.
func (m *machine) step(ev event, now time.Time) []action {
	switch ev := ev.(type) {
	case viewed:
		return m.onView(ev.topo, now)
	case drainAsked:
		m.leaving = m.topo.Self
		return m.review(now)
	case requested:
		return m.onRequest(ev, now)
	case granted:
		return m.onGrant(ev, now)
	case heldUp:
		m.onHeldUp(ev)
	case instanceEnded:
		return m.onEnded(ev, now)
	case fenceHeld:
		return m.onFenceHeld(ev)
	case leaseAnswered:
		return m.onLeaseAnswered(ev, now)
	case leaseLost:
		return m.onLeaseLost(ev, now)
	case leaseReleased:
		return m.onReleased(now)
	case claimed:
		return m.onClaimed(ev, now)
	case ticked:
		return m.onTick(now)
	}
	return nil
}

func (m *machine) onView(topo Topology, now time.Time) []action {
	renamed := m.topo.Self != topo.Self
	m.topo = topo
	m.known = m.known.Merge(topo.record)
	if renamed {
		return m.onRename(now)
	}
	return m.review(now)
}

// onRename begins a new incarnation of this node. Permission was given to the former
// one, and the others count what that one ran as ended.
func (m *machine) onRename(now time.Time) []action {
	switch m.phase {
	case Asking, Acquiring:
		m.phase = Pending
		return append(m.release(), m.review(now)...)
	case Host, HandingOver:
		return m.stopFor(Stopping, true, now)
	case Pending, Standby, Stopping, Ended:
	}
	return m.review(now)
}

// host returns who is to host, as far as this node knows.
func (m *machine) host() (Peer, bool) {
	return m.topo.host(&m.set, node.ID{}, m.leaving)
}

// hostIsSelf reports whether this node is to host, or will be as soon as its view shows
// that it has a manager.
func (m *machine) hostIsSelf() bool {
	h, ok := m.topo.host(&m.set, m.topo.Self, m.leaving)
	return ok && h.ID == m.topo.Self && !m.topo.Down
}

// review is what a changed view means to each phase.
func (m *machine) review(now time.Time) []action {
	switch m.phase {
	case Pending, Standby, Asking, Acquiring, Ended:
		return m.settle(now)
	case Host:
		return m.reviewHost(now)
	case HandingOver:
		if m.topo.Down {
			return m.stopFor(Stopping, true, now)
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
	if _, somebody := m.host(); somebody && !m.known.Finished && !m.misfit() {
		return nil
	}
	return m.stopFor(HandingOver, false, now)
}

// misfit reports whether this node's manager is of another singleton than the one that
// counts: it must not host.
func (m *machine) misfit() bool {
	_, _, misfit := m.topo.misfit(m.set.signature)
	return misfit
}

// settle finds the phase of a node that runs no instance.
func (m *machine) settle(now time.Time) []action {
	switch h, ok := m.host(); {
	case m.known.Finished:
		m.phase = Ended
	case !ok || m.topo.Down || m.misfit():
		m.phase = Pending
	case h.ID != m.topo.Self:
		m.phase = Standby
	case m.stopping.step == givenUp: // what would start would run beside it
		m.phase = Pending
	case m.phase == Asking:
		return m.proceed(now, true)
	case m.phase == Acquiring:
		return m.advance(now)
	default:
		return m.ask(now)
	}
	m.retryAt = time.Time{}
	return m.release()
}

// onTick does what the time has come for.
func (m *machine) onTick(now time.Time) []action {
	switch {
	case m.phase == Asking:
		return m.proceed(now, true)
	case m.phase == Acquiring:
		return m.advance(now)
	case m.phase == Host && !m.alive && !now.Before(m.startAt):
		return m.start(now)
	case m.phase == HandingOver || m.phase == Stopping:
		return m.pressOn(now)
	}
	return nil
}

// wake returns when the next tick is due; zero when none is.
func (m *machine) wake() time.Time {
	switch m.phase {
	case Asking:
		if len(m.missing()) > 0 {
			return m.retryAt
		}
		return m.notBefore()
	case Acquiring:
		if m.outside.asked == nothingAsked && !m.outside.releasing {
			return m.outside.retryAt
		}
	case Host:
		return m.startAt
	case HandingOver, Stopping:
		return m.stopping.at
	case Pending, Standby, Ended:
	}
	return time.Time{}
}
