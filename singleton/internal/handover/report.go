package handover

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/understudy-go/understudy/internal/singletons/directory"
	"github.com/understudy-go/understudy/internal/singletons/wire"
	"github.com/understudy-go/understudy/remote"
)

// A Report is what a manager shows of its machine.
type Report struct {
	Host           directory.Peer  // the member that is to host; zero when no member can
	Here           bool            // an instance runs here that is not given up
	StuckSince     time.Time       // when the instance here was told to stop that does not end; zero without one
	RestartsInARow int             // of the instance here, since it last ran well
	WellAt         time.Time       // when the running instance will have run well; zero if none runs
	NotBefore      time.Time       // when this node may start an instance or asks for the lease again; zero when it waits for answers alone
	WaitingFor     []remote.NodeID // the members whose permission is missing
	Why            string          // why no instance runs; "" when nothing is known against it
}

// Report returns what this node knows. begun says that the instance here takes messages.
func (m *Machine) Report(begun bool) Report {
	r := Report{Here: m.occupied(), StuckSince: m.stopping.stuckSince(), Why: why(m, begun)}
	r.Host, _ = m.Host()
	switch m.phase {
	case Pending, Standby, Ended:
		return r
	case Asking:
		r.NotBefore, r.WaitingFor = m.earliestStart(), m.missing()
	case Acquiring:
		r.NotBefore = m.outside.RetryAt
	case Host, HandingOver, Stopping:
	}
	r.RestartsInARow = m.instance.failures
	if m.instance.Running {
		r.WellAt = m.instance.started.Add(m.cfg.Restart.ResetAfter())
	}
	return r
}

func why(m *Machine, begun bool) string {
	switch m.phase {
	case Pending:
		return whyPending(m)
	case Standby:
		if h, ok := m.Host(); ok && !h.Reachable {
			return "its host is unreachable; it moves when the host is down"
		}
	case Asking:
		return whyAsking(m)
	case Acquiring:
		return whyAcquiring(m)
	case Host:
		switch {
		case m.instance.rests:
			return "its persistence id was forgotten; a message starts it again, if the id has been revived"
		case !m.instance.Running:
			return "the instance has ended, and is about to be restarted"
		case !begun:
			return "the instance is starting"
		}
	case HandingOver, Stopping:
		return whyStopping(m)
	case Ended:
		return "it has finished, and does not start again"
	}
	return ""
}

func whyStopping(m *Machine) string {
	switch {
	case m.stopping.step == stuck:
		return fmt.Sprintf("the instance here was told to stop at %s and does not end, as its handler does not return; it is given up at %s", clockTime(m.stopping.since), clockTime(m.stopping.at))
	case m.phase == HandingOver:
		return "the instance is stopping, to run elsewhere"
	}
	return "the instance is stopping, because this node is down or has lost the lease, or because another instance has claimed the journal later"
}

func whyPending(m *Machine) string {
	if m.stopping.step == givenUp {
		return fmt.Sprintf("the last instance here was told to stop at %s and does not end, as its handler does not return; no instance starts on this node until it has ended", clockTime(m.stopping.since))
	}
	if m.topo.Down {
		return "this node is down"
	}
	if differences, reference, mismatch := m.Mismatch(); mismatch {
		return fmt.Sprintf("its settings differ from those on %s, so it takes no part: %s", reference.ID.Address, differences)
	}
	if m.terms.highest() >= wire.MaxTerm {
		return fmt.Sprintf("term %d has been used, and there is no higher one", m.terms.highest())
	}
	if self, member := m.topo.Member(m.topo.Self); !member || !self.Up {
		return "this node is not up"
	}
	return whyNoCandidate(m)
}

func whyNoCandidate(m *Machine) string {
	up := keep(m.topo.Members, func(p directory.Peer) bool { return p.Up && p.ID != m.drained })
	able := keep(up, m.cfg.admits)
	reference, _, _ := reference(&m.topo, m.cfg.Signature)
	managing := keep(able, func(p directory.Peer) bool { return m.cfg.manages(p, m.topo.Self, reference) })
	role := ""
	if m.cfg.Role != "" {
		role = fmt.Sprintf(" has the role %q", m.cfg.Role)
	}
	switch {
	case len(able) == 0 && m.cfg.Anchor.Kind == ByName:
		return m.cfg.Placement() + " is not up"
	case len(able) == 0 && role != "":
		return "no member that is up" + role
	case len(able) == 0:
		return "this node leaves, and no other member is up"
	case len(managing) == 0 && m.cfg.Anchor.Kind == ByName:
		return m.cfg.Placement() + " has no manager for it"
	case len(managing) == 0 && role != "":
		return "no member that is up and" + role + " has a manager for it"
	case len(managing) == 0:
		return "no member that is up has a manager for it"
	case m.cfg.Anchor.Kind == ByFunction && role != "":
		return fmt.Sprintf("%q elects no member that is up, has a manager for it, and%s", m.cfg.Anchor.Node, role)
	case m.cfg.Anchor.Kind == ByFunction:
		return fmt.Sprintf("%q elects no member that is up and has a manager for it", m.cfg.Anchor.Node)
	}
	return "no member that is up can host it"
}

func keep(members []directory.Peer, fits func(directory.Peer) bool) []directory.Peer {
	return slices.DeleteFunc(slices.Clone(members), func(p directory.Peer) bool { return !fits(p) })
}

func whyAsking(m *Machine) string {
	var names []string
	for _, id := range m.missing() {
		name := id.Address
		if p, member := m.topo.Member(id); member && p.Name != "" {
			name = p.Name
		}
		if h := m.asking.heldUpBy(id); h != nil {
			name += fmt.Sprintf(", where the instance was told to stop at %s and does not end; it is given up at %s", clockTime(h.since), clockTime(h.until))
		}
		names = append(names, name)
	}
	if len(names) > 0 {
		return "waits for the permission of " + strings.Join(names, ", ")
	}
	if at := m.earliestStart(); !at.IsZero() {
		return fmt.Sprintf("does not start before %s: a former host may still be stopping, or the last instance has failed", clockTime(at))
	}
	return "about to start"
}

func whyAcquiring(m *Machine) string {
	why := "waits for the lease, or for a term from the source of generations"
	if m.outside.Obstacle != nil {
		why += fmt.Sprintf("; last error: %v", m.outside.Obstacle)
	}
	if !m.outside.RetryAt.IsZero() {
		why += "; retries at " + clockTime(m.outside.RetryAt)
	}
	return why
}

func clockTime(t time.Time) string { return t.UTC().Format(time.TimeOnly + " MST") }

// A Takeover is how a node comes to host a singleton that has been hosted before.
type Takeover struct {
	Since  time.Time     // when the node began to ask for permission; zero while it does not take over
	From   remote.NodeID // the last host, as far as the node knows; zero if it does not
	Reason Reason
}

// A Reason is why a node takes a singleton over.
type Reason string

// The reasons.
const (
	Moved   Reason = "hand-over" // the last host is still there, or has left
	Lost    Reason = "failover"  // the last host cannot be reached, or was removed
	Stopped Reason = "restart"   // this node was the last host, and has stopped its instance
)

// An Absence measures how long a singleton is away, as seen by the node that hosts it next. The
// zero value is ready.
type Absence struct {
	former remote.NodeID // the last other host that this node knew
	since  time.Time     // since when no instance runs; zero while one may, or nothing is known
	taking Takeover
	ran    bool // an instance on this node has taken messages
}

// Begin notes that the instance on this node has ended.
func (a *Absence) Begin(now time.Time) { a.since = now }

// Observe looks at m after each step. The absence begins when the former host is lost, or else when
// the last member has given its permission.
func (a *Absence) Observe(m *Machine, now time.Time) {
	switch m.phase {
	case Standby:
		a.taking = Takeover{}
		if h, ok := m.Host(); ok && (h.Reachable || h.ID != a.former) {
			a.since, a.former = time.Time{}, h.ID
		}
	case Asking, Acquiring, Host:
		if a.taking.Since.IsZero() && m.phase != Host && (m.topo.Record.Term > 0 || a.ran) {
			a.taking = a.takeover(m, now)
		}
		if !a.taking.Since.IsZero() && (m.phase != Asking || len(m.missing()) == 0) {
			a.begin(now)
		}
	case HandingOver, Stopping, Ended:
		*a = Absence{ran: a.ran}
	case Pending:
	}
	if a.former != (remote.NodeID{}) && m.topo.Lost(a.former) {
		a.begin(now)
	}
}

func (a *Absence) takeover(m *Machine, now time.Time) Takeover {
	t := Takeover{Since: now, From: a.former, Reason: Moved}
	_, member := m.topo.Member(a.former)
	switch {
	case a.former == remote.NodeID{} && a.ran: // no other node has hosted it since
		t.From, t.Reason = m.topo.Self, Stopped
	case m.topo.Lost(a.former), !member && m.topo.HasMemberAt(a.former.Address): // it has crashed and is back
		t.Reason = Lost
	}
	return t
}

// Takeover returns how this node takes over; the zero value while it does not.
func (a *Absence) Takeover() Takeover { return a.taking }

func (a *Absence) begin(now time.Time) {
	if a.since.IsZero() {
		a.since = now
	}
}

// Over ends the absence, because an instance takes messages. It returns how long this node has
// asked, and how long no instance ran; negative when it did not ask, or none ran before.
func (a *Absence) Over(now time.Time) (asked, absent time.Duration) {
	asked, absent = -1, -1
	if !a.taking.Since.IsZero() {
		asked = now.Sub(a.taking.Since)
	}
	if !a.since.IsZero() {
		absent = now.Sub(a.since)
	}
	*a = Absence{ran: true}
	return asked, absent
}
