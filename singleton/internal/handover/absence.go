package handover

import (
	"time"

	"github.com/understudy-go/understudy/remote"
)

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
