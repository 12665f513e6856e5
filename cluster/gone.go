package cluster

import (
	"time"

	"github.com/understudy-go/understudy/cluster/membership"
)

// A Gone is a former member that was removed without a sign that what ran on it has
// stopped.
type Gone struct {
	ID   ID
	Name string // Config.NodeID

	Since time.Time // when this node saw it removed, by the operating system's clock

	// Until is how long something may still be running there: a node that was cut off
	// has learnt by then that it is no member, and has had the time to stop. One that was
	// paused has not.
	Until time.Time
}

// Gone returns whom v, a view of this node, has no sign of having stopped, by address and
// incarnation; also when Until is over, as long as the cluster remembers them.
func (n *Node) Gone(v View) []Gone {
	removals := membership.UncleanRemovals(v)
	all := make([]Gone, 0, len(removals))
	for _, r := range removals {
		at := n.cfg.inSystemTime(r.Since)
		all = append(all, Gone{ID: r.ID, Name: r.Name, Since: at, Until: at.Add(n.cfg.margin())})
	}
	return all
}
