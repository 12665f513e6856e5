package allot

import (
	"maps"
	"slices"

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
