package allot

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/sharding/internal/table"
)

// offers are the types that each node has started, by name.
type offers map[home.NodeID]map[string]Offer

func (all offers) any(id home.NodeID) bool { return len(all[id]) > 0 }

// said reports whether a node has said what it offers, be it nothing.
func (all offers) said(n home.Node) bool { return all[home.IDOf(n)] != nil }

// mismatches returns the types that a node offers with another signature than the cluster's.
func (all offers) mismatches(id home.NodeID, kinds map[string]*kind) (different []Mismatch) {
	for _, name := range slices.Sorted(maps.Keys(all[id])) {
		if k := kinds[name]; k != nil && !k.Fits(all[id][name].Type) {
			different = append(different, Mismatch{Type: name, Cluster: k.Type})
		}
	}
	return different
}

// canHost reports whether a node that is alive can take a shard of a type.
func (all offers) canHost(n home.Node, k *kind) bool {
	o, offered := all[home.IDOf(n)][k.Name]
	promises := k.Sourced != table.Agreed || o.Entities != table.Plain
	return offered && o.Hosts && promises && (!o.Leased || o.Lease != 0) && k.Fits(o.Type) && (k.Role == "" || n.HasRole(k.Role))
}

// lease returns the token of the lease under which a node hosts a type, or 0.
func (all offers) lease(id home.NodeID, k *kind) uint64 { return all[id][k.Name].Lease }

// leased reports whether a node hosts a type only while it has a lease.
func (all offers) leased(k *kind) bool {
	for _, of := range all {
		if of[k.Name].Leased {
			return true
		}
	}
	return false
}

// leaseless returns the names of the members that could host a type if they had their leases.
func (all offers) leaseless(k *kind) (names []string) {
	for id, of := range all {
		if o := of[k.Name]; o.Hosts && o.Leased && o.Lease == 0 {
			names = append(names, id.Name)
		}
	}
	slices.Sort(names)
	return names
}

// strangers are the former members that may still be running, and that have not told this
// coordinator what they run. Without a journal it cannot know that.
type strangers struct {
	all []home.Gone
}

func (o *strangers) update(gone []home.Gone, nodes *home.Nodes) {
	o.all = nil
	for _, g := range gone {
		if n, known := nodes.Node(home.NodeID{Name: g.Name, Incarnation: g.Incarnation}); !known || !n.Ready {
			o.all = append(o.all, g)
		}
	}
}

// running returns one that may still be running, if there is one. Of several it returns the one
// that may run the longest.
func (o *strangers) running(now time.Time) (last home.Gone, ok bool) {
	for _, g := range o.all {
		switch {
		case !g.Until.IsZero() && !now.Before(g.Until):
		case g.Until.IsZero():
			return g, true
		case !ok || last.Until.Before(g.Until):
			last, ok = g, true
		}
	}
	return last, ok
}

// stranger returns a former member that may still run a shard without a home, if there is one.
func (s *shards) stranger(sh *shard) (g home.Gone, ok bool) {
	if !s.cfg.Forgetful || sh.met || sh.fenced() {
		return g, false
	}
	return s.strangers.running(s.nodes.Now())
}

// awaitsStranger reports whether a shard must not start yet because a former member may run it.
func (s *shards) awaitsStranger(sh *shard) bool {
	g, waits := s.stranger(sh)
	if waits && !g.Until.IsZero() {
		s.nodes.Wake(sh.label, g.Until)
	}
	return waits
}

func whyStranger(g home.Gone) string {
	return fmt.Sprintf("%s, which is no longer a member, may still run it, and the coordinator has no journal that says whether it does", g.Name)
}
