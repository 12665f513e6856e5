package placement

import (
	"maps"
	"slices"
	"strings"
)

// drain has a node emptied as far as that is possible, and answers then. A node that is
// not there is empty.
func (f *fleet) drain(in drain) {
	n := f.incarnation(nodeID{name: in.node, incarnation: in.incarnation})
	if f.seen && !n.member {
		f.ends.set(n.id, f.now)
	}
	n.draining = true
	n.drains = append(n.drains, in.token)
	if !slices.Contains(f.drains, n.id) {
		f.drains = append(f.drains, n.id)
	}
	f.shown, f.roomier = nil, true
}

// endDrains answers who waits for drains of nodes on which nothing can be moved any more.
func (f *fleet) endDrains() {
	f.drains = slices.DeleteFunc(f.drains, func(id nodeID) bool {
		n := f.nodes[id]
		if n == nil {
			return true
		}
		if f.busy(id) || slices.ContainsFunc(f.tenants, func(t tenant) bool { return t.leaving(id) }) {
			return false
		}
		f.drained(n)
		return true
	})
}

// drained answers who waits for the end of a node's drain.
func (f *fleet) drained(n *fleetNode) {
	for _, token := range n.drains {
		f.reply(token, nil, nil)
	}
	n.drains = nil
}

func (f *fleet) sortedStrays() []*place {
	if len(f.strays) == 0 {
		return nil
	}
	return slices.SortedFunc(maps.Keys(f.strays), func(a, b *place) int {
		if c := strings.Compare(a.start.Label, b.start.Label); c != 0 {
			return c
		}
		return compareNodes(a.on, b.on)
	})
}
