package cluster

import (
	"time"

	"github.com/understudy-go/understudy/cluster/internal/membership"
)

// A Gone is a removed member that may still be running: it was removed without a sign that it has
// stopped.
type Gone struct {
	ID   ID
	Name string // Config.NodeID

	Since time.Time // when this node saw it removed, by the operating system's clock

	// Until is when the removal margin ends. By then a node that was only cut off has learned that
	// it is not a member, and has had the time to stop. A node that was paused has not.
	Until time.Time
}

// Gone returns the removed members that may still be running: those that neither left nor were
// replaced at their address. They are ordered by address and incarnation. v is a view of this node.
// A member stays in the list after Until, for as long as the cluster remembers it.
func (n *Node) Gone(v View) []Gone {
	removals := membership.UncleanRemovals(v.in)
	all := make([]Gone, 0, len(removals))
	for _, r := range removals {
		at := n.cfg.inSystemTime(r.Since)
		all = append(all, Gone{ID: r.ID, Name: r.Name, Since: at, Until: at.Add(n.cfg.margin())})
	}
	return all
}
