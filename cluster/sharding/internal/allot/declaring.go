package allot

import (
	"cmp"
	"maps"
	"slices"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/sharding/internal/table"
)

// declareNew declares the type of an offer as it is offered, if it is new. To a coordinator without
// a journal a type that runs is new as well, and the node that is heard first may differ from all
// others. So as long as it hears the members, it believes only those that agreed with the former
// coordinator.
func declareNew(s *shards, o Offer) {
	t := o.Type
	t.Sourced = table.Open
	if s.kinds[t.Name] != nil || s.cfg.Forgetful && !s.hearing.over && !o.Agreed {
		return
	}
	if t.Name != "" && t.Shards > 0 && t.Shards <= table.MaxShards {
		declare(s, s.add(t))
	}
}

// declareHeard declares the types on which no member has agreed with a former coordinator.
func declareHeard(s *shards) {
	byName := func(a, b home.NodeID) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Incarnation, b.Incarnation))
	}
	for _, id := range slices.SortedFunc(maps.Keys(s.offers), byName) {
		for _, name := range slices.Sorted(maps.Keys(s.offers[id])) {
			declareNew(s, s.offers[id][name])
		}
	}
}
