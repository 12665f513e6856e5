// Package handover is the hand-over protocol of singletons without input and output: it decides
// which node may run the instance, and where messages go. Events and the current time go in,
// actions come out. Package singleton runs it.
//
//   - [Machine] decides where the instance runs.
//   - [Relay] brings messages to the instance, and buffers them while there is no instance.
//   - [Elect] and [Mismatch] compute an election and its settings from a topology.
//
// Its simulation, in the tests beside it, runs random schedules of faults against whole clusters of
// machines and relays.
package handover

import (
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/singletons/directory"
	"github.com/understudy-go/understudy/internal/singletons/wire"
	"github.com/understudy-go/understudy/remote"
)

// A Phase is the state of a [Machine], see singleton.Phase.
type Phase string

// The phases of a machine.
const (
	Pending     Phase = "pending"
	Standby     Phase = "standby"
	Asking      Phase = "asking"
	Acquiring   Phase = "acquiring"
	Host        Phase = "host"
	HandingOver Phase = "handing over"
	Stopping    Phase = "stopping"
	Ended       Phase = "ended"
)

// A Config has the settings of a singleton that the protocol depends on.
type Config struct {
	Name        string
	Role        string
	Anchor      Anchor
	Signature   string // of the settings that must be the same on all nodes, see [SignatureOf]; "" matches all
	StopTimeout time.Duration
	Restart     actor.Backoff
	Margin      time.Duration // negative: none; 0: what the cluster recommends
	Leased      bool          // an instance needs a lease
	LeaseRetry  time.Duration
	Sourced     bool // terms come from a source of generations
}

// mayRun reports whether an instance may run on a member or former member: by our settings, or by
// its own, if they are others.
func (c *Config) mayRun(p directory.Peer) bool {
	signature, _ := advertised(p)
	return hasRole(p, c.Role) || !matches(signature, c.Signature)
}

func (c *Config) removalMargin(topo *directory.Topology) time.Duration {
	if c.Margin == 0 {
		return topo.Margin
	}
	return max(0, c.Margin)
}

// A Machine is the hand-over protocol of one manager.
//
// A node that is to host asks every other member that might run an instance. It starts an instance
// when each of them has answered that it runs none, or was removed long enough ago. If the
// singleton needs a lease or a term from a source, the node acquires them first.
//
// An answer is a promise to start no instance without asking in turn, and to count the requested
// term as used. Requests are numbered, so that an answer to an earlier one is ignored. Of two nodes
// that both consider themselves the host, neither answers the other until their views agree. A node
// that is about to be the host does not answer either while its view does not yet show its own
// manager.
type Machine struct {
	cfg Config

	topo    directory.Topology
	phase   Phase
	drained remote.NodeID // the incarnation of this node that is to start nothing any more

	terms    terms
	asking   permission
	outside  acquisition
	waiters  waiters
	instance Instance
	stopping stopping
}

// NewMachine returns the machine of a manager that has seen no topology yet.
func NewMachine(cfg Config) *Machine { return &Machine{cfg: cfg, phase: Pending} }

// Step handles one event, and returns what is to be done, in order. It is not safe for concurrent
// use. The caller also keeps the [Relay] in step: it calls [Relay.View] before a Viewed, and
// [Relay.Reroute] when it has carried out the actions.
func (m *Machine) Step(ev Event, now time.Time) []Action {
	switch ev := ev.(type) {
	case Viewed:
		return m.onView(ev.Topology, now)
	case DrainAsked:
		m.drained = m.topo.Self
		return m.review(now)
	case Received:
		return m.onMessage(ev.Message, now)
	case InstanceEnded:
		return m.onEnded(ev, now)
	case MessageWaits:
		if Rests(m) {
			return m.instance.start(now)
		}
	case FenceHeld:
		return m.onFenceHeld(ev, now)
	case LeaseAnswered:
		return m.onLeaseAnswered(ev, now)
	case LeaseLost:
		return m.onLeaseLost(ev, now)
	case LeaseReleased:
		return m.onReleased(now)
	case TermClaimed:
		return m.onClaimed(ev, now)
	case Ticked:
		return m.onTick(now)
	}
	return nil
}

func (m *Machine) onMessage(msg wire.Any, now time.Time) []Action {
	switch msg := msg.(type) {
	case wire.Message[wire.Request]:
		return m.onRequest(msg, now)
	case wire.Message[wire.Grant]:
		return m.onGrant(msg, now)
	case wire.Message[wire.HeldUp]:
		if m.phase == Asking {
			return m.asking.onHeldUp(msg, now)
		}
	}
	return nil
}

func (m *Machine) onView(topo directory.Topology, now time.Time) []Action {
	renamed := m.topo.Self != topo.Self
	m.topo = topo
	m.terms.learn(topo.Record) // before the review, which may ask for a term above all that are known
	if renamed {
		return m.onRename(now)
	}
	return m.review(now)
}

// onRename begins a new incarnation of this node. The former incarnation's permission does not
// apply to it, and the other members count its instance as ended.
func (m *Machine) onRename(now time.Time) []Action {
	switch m.phase {
	case Asking, Acquiring:
		m.phase = Pending
		return append(m.outside.release(), m.review(now)...)
	case Host, HandingOver:
		return m.stopFor(Stopping, true, now)
	case Pending, Standby, Stopping, Ended:
	}
	return m.review(now)
}

// Host returns the member that is to host, as far as this node knows.
func (m *Machine) Host() (directory.Peer, bool) {
	return Elect(&m.topo, &m.cfg, remote.NodeID{}, m.drained)
}

// hostIsSelf reports whether this node is to host, or will be as soon as its view shows that it has
// a manager.
func (m *Machine) hostIsSelf() bool {
	h, ok := Elect(&m.topo, &m.cfg, m.topo.Self, m.drained)
	return ok && h.ID == m.topo.Self && !m.topo.Down
}

func (m *Machine) review(now time.Time) []Action {
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

// reviewHost keeps the instance while this node is to host. When another node is, the instance
// stays until that node asks. A node that leaves while no other can host stops its instance itself.
// An instance that was overtaken on the other side of a split is replaced.
func (m *Machine) reviewHost(now time.Time) []Action {
	if m.topo.Down {
		return m.stopFor(Stopping, true, now)
	}
	// Before the election: an overtaken instance can store nothing, and answers from a state that
	// lacks the events of the other one, even while this node is still to host.
	switch overtaken := m.terms.overtook(m.instance.Generation); {
	case overtaken && m.instance.Running:
		return m.stopFor(Stopping, true, now)
	case overtaken:
		m.phase = Pending
		return m.settle(now)
	}
	// Another host is no reason to stop: it asks first, and until then its view may lack the
	// change. An instance that stopped at once would leave the singleton without one meanwhile.
	_, found := m.Host()
	if _, _, mismatch := m.Mismatch(); found && !mismatch && !m.terms.known.Finished {
		return nil
	}
	return m.stopFor(HandingOver, false, now)
}

// Mismatch returns how the settings of this node's manager differ from those that count, and the
// member that has the latter. The node must not host then. ok is false if they do not differ, or
// nothing is known.
func (m *Machine) Mismatch() (differences string, reference directory.Peer, ok bool) {
	return Mismatch(&m.topo, m.cfg.Signature)
}

func (m *Machine) settle(now time.Time) []Action {
	h, ok := m.Host()
	switch _, _, mismatch := m.Mismatch(); {
	case m.terms.known.Finished:
		m.phase = Ended
	case !ok || m.topo.Down || mismatch:
		m.phase = Pending
	case h.ID != m.topo.Self:
		m.phase = Standby
	case m.stopping.step == givenUp: // a new instance would run beside the one that does not stop
		m.phase = Pending
	case m.phase == Asking:
		return m.proceed(now, true)
	case m.phase == Acquiring:
		return m.advance(now)
	default:
		return m.ask(now)
	}
	// This node is not to host now. A lease that it kept would block the node that is, until it
	// expires.
	m.asking.retryAt = time.Time{}
	return m.outside.release()
}

func (m *Machine) onTick(now time.Time) []Action {
	switch {
	case m.phase == Asking:
		return m.proceed(now, true)
	case m.phase == Acquiring:
		return m.advance(now)
	case m.phase == Host && m.instance.due(now):
		return m.instance.start(now)
	case m.phase == HandingOver || m.phase == Stopping:
		return m.pressOn(now)
	}
	return nil
}

// Wake returns when the next [Ticked] is due; zero when none is.
func (m *Machine) Wake() time.Time {
	switch m.phase {
	case Asking:
		if len(m.missing()) > 0 {
			return m.asking.retryAt
		}
		return m.earliestStart()
	case Acquiring:
		if m.outside.asked == nothingAsked && !m.outside.Releasing {
			return m.outside.RetryAt
		}
	case Host:
		return m.instance.startAt
	case HandingOver, Stopping:
		return m.stopping.at
	case Pending, Standby, Ended:
	}
	return time.Time{}
}

// Phase returns the present phase.
func (m *Machine) Phase() Phase { return m.phase }

// Topology returns the last topology. The caller must not change it.
func (m *Machine) Topology() *directory.Topology { return &m.topo }

// Instance returns what is known of the instance on this node.
func (m *Machine) Instance() Instance { return m.instance }

// Lease returns what is known of the lease.
func (m *Machine) Lease() LeaseStatus { return m.outside.LeaseStatus }

// HighestTerm returns the highest term that this node has heard of or promised.
func (m *Machine) HighestTerm() uint64 { return m.terms.highest() }

func (m *Machine) occupied() bool { return m.instance.Running && m.stopping.step != givenUp }

func (m *Machine) header(to remote.NodeID) wire.Header {
	return wire.Header{Name: m.cfg.Name, From: m.topo.Self, To: to}
}
