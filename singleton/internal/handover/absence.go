package handover

import (
	"time"

	"github.com/understudy-go/understudy/internal/node"
)

// An Absence measures how long a singleton is away, as seen by the node that hosts it next. The
// zero value is ready.
type Absence struct {
	former node.ID   // the last other host that this node knew
	since  time.Time // since when no instance runs; zero while one may, or nothing is known
	asked  time.Time // since when this node asks to host; zero while it does not
}

// Begin notes that the instance on this node has ended.
func (a *Absence) Begin(now time.Time) { a.since = now }

// Observe looks at m after each step. The absence begins when the former host is lost, or else when
// the last member has given its permission.
func (a *Absence) Observe(m *Machine, now time.Time) {
	switch m.phase {
	case Standby:
		a.asked = time.Time{}
		if h, ok := m.Host(); ok && (h.Reachable || h.ID != a.former) {
			a.since, a.former = time.Time{}, h.ID
		}
	case Asking, Acquiring, Host:
		if a.asked.IsZero() && m.phase != Host && m.topo.Record.Term > 0 {
			a.asked = now
		}
		if !a.asked.IsZero() && (m.phase != Asking || len(m.missing()) == 0) {
			a.begin(now)
		}
	case HandingOver, Stopping, Ended:
		*a = Absence{}
	case Pending:
	}
	if a.former != (node.ID{}) && m.topo.Lost(a.former) {
		a.begin(now)
	}
}

func (a *Absence) begin(now time.Time) {
	if a.since.IsZero() {
		a.since = now
	}
}

// Over ends the absence, because an instance takes messages. It returns how long this node has
// asked, and how long no instance ran; negative when it did not ask, or none ran before.
func (a *Absence) Over(now time.Time) (asked, absent time.Duration) {
	asked, absent = -1, -1
	if !a.asked.IsZero() {
		asked = now.Sub(a.asked)
	}
	if !a.since.IsZero() {
		absent = now.Sub(a.since)
	}
	*a = Absence{}
	return asked, absent
}
