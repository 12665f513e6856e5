package allot

import (
	"maps"
	"slices"

	"github.com/understudy-go/understudy/cluster/internal/hosting"
)

// offers are the types that each node has started, by name.
type offers map[hosting.NodeID]map[string]Offer

func (all offers) any(id hosting.NodeID) bool { return len(all[id]) > 0 }

// mismatches returns the types that a node offers with another signature than the cluster's.
func (all offers) mismatches(id hosting.NodeID, kinds map[string]*kind) (different []Mismatch) {
	for _, name := range slices.Sorted(maps.Keys(all[id])) {
		if k := kinds[name]; k != nil && !k.Fits(all[id][name].Type) {
			different = append(different, Mismatch{Type: name, Cluster: k.Type})
		}
	}
	return different
}

// canHost reports whether a node that is alive can take a shard of a type.
func (all offers) canHost(n hosting.Node, k *kind) bool {
	o, offered := all[hosting.IDOf(n)][k.Name]
	return offered && o.Hosts && k.Fits(o.Type) && (k.Role == "" || n.HasRole(k.Role))
}

// eventSourced reports whether all nodes that host a type say that its entities write only to their
// journal.
func (all offers) eventSourced(k *kind) bool {
	hosts := 0
	for _, of := range all {
		if o, offered := of[k.Name]; offered && o.Hosts {
			if !o.EventSourced {
				return false
			}
			hosts++
		}
	}
	return hosts > 0
}
