package plan

import (
	"cmp"

	"github.com/understudy-go/understudy/internal/guard"
)

// An Election says which node leads: it runs the coordinator, and the singletons whose anchor is
// [Leader]. All nodes must have the same one.
type Election struct {
	// Name tells elections apart: nodes with another one do not take part. Required.
	Name string

	// Elect returns the name of the node that leads, and false if none may. It gets the nodes that
	// are up, sorted by name, without the fields that only the coordinator knows: Ready, Draining
	// and Actors. It must depend on nothing else and not change the view. If it panics, no node
	// leads.
	Elect func(v View) (node string, ok bool)
}

// Oldest elects the node that has been up the longest among those with the role, or among all if
// role is "". A node that joins never becomes the leader while there is one.
func Oldest(role string) Election {
	return Election{Name: named("oldest", role), Elect: func(v View) (string, bool) { return v.first(role, older) }}
}

// LowestAddress elects the node with the lowest address, compared as a string, among those with the
// role, or among all if role is "".
func LowestAddress(role string) Election {
	return Election{Name: named("lowest-address", role), Elect: func(v View) (string, bool) {
		return v.first(role, func(a, b Node) int { return cmp.Or(cmp.Compare(a.Address, b.Address), cmp.Compare(a.Name, b.Name)) })
	}}
}

func named(election, role string) string {
	if role == "" {
		return election
	}
	return election + " of role " + role
}

func older(a, b Node) int {
	return cmp.Or(cmp.Compare(a.UpNumber-1, b.UpNumber-1), cmp.Compare(a.Address, b.Address), cmp.Compare(a.Incarnation, b.Incarnation))
}

// first returns the first node, in some order, that is up and has the role.
func (v View) first(role string, order func(a, b Node) int) (name string, ok bool) {
	var best Node
	for _, n := range v.Nodes {
		if n.Up && (role == "" || n.HasRole(role)) && (!ok || order(n, best) < 0) {
			best, ok = n, true
		}
	}
	return best.Name, ok
}

// Leader returns the node that is elected among those that are up.
func (e Election) Leader(v View) (node string, ok bool) {
	if guard.Apart(func() { node, ok = e.Elect(v) }) != nil {
		return "", false
	}
	if n, known := v.Node(node); !ok || !known || !n.Up {
		return "", false
	}
	return node, true
}

// HeldBy returns e with the node that runs the coordinator as the elected one, while that is up. It
// was elected among the nodes that run placement, which a view does not tell apart.
func (e Election) HeldBy(node string) Election {
	return Election{Name: e.Name, Elect: func(v View) (string, bool) {
		if n, known := v.Node(node); known && n.Up {
			return node, true
		}
		return e.Elect(v)
	}}
}
