package placement

import (
	"cmp"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/internal/membership"
)

// An election says which node leads. The leading node runs the coordinator, and the singletons
// whose anchor is [Leader].
type election struct {
	Order  membership.LeaderElection // among the nodes that are up and have the role
	Role   string                    // the role that a node needs to lead; "" allows all nodes
	Holder string                    // the node that runs the coordinator, which leads while it is up; "" if unknown
}

// Leader returns the node that leads, and false if no node leads. Holder takes precedence: it was
// elected among the nodes that run placement, which a view does not distinguish.
func (e election) Leader(v home.View) (node string, ok bool) {
	if n, known := v.Node(e.Holder); known && n.Up {
		return n.Name, true
	}
	var members []membership.Member
	for _, n := range v.Nodes {
		if n.Up && (e.Role == "" || n.HasRole(e.Role)) {
			members = append(members, membership.Member{
				Name: n.Name, Address: n.Address, Incarnation: n.Incarnation, Status: membership.Up,
				UpNumber: n.UpNumber, Roles: n.Roles, Meta: n.Meta,
			})
		}
	}
	first, ok := e.Order.First(members)
	return first.Name, ok
}

func older(a, b home.Node) int {
	return cmp.Or(cmp.Compare(a.UpNumber-1, b.UpNumber-1), cmp.Compare(a.Address, b.Address), cmp.Compare(a.Incarnation, b.Incarnation))
}
