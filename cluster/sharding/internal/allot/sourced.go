package allot

import (
	"maps"
	"slices"

	"github.com/understudy-go/understudy/cluster/sharding/internal/table"
)

// agree finds out which types are event-sourced. When a node has crashed, the shards of such a type
// start elsewhere at once, because the journal fences what the node may still run. A node that is
// only partitioned or paused must therefore run nothing else, and it cannot be asked any more. So
// the nodes promise it beforehand. Once one node has event-sourced entities and none has others,
// all are asked. When each node with shards has promised, the agreement is stored. Shards that
// start later start under the promise, see [StartState].
func agree(s *shards) {
	if !s.hearing.over {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(s.kinds)) {
		switch k := s.kinds[name]; {
		case k.Sourced == table.Open && s.offers.sourced(k):
			s.agreed(k, table.Asked)
		case k.Sourced == table.Asked && s.offers.sourced(k) && s.promised(k):
			s.agreed(k, table.Agreed)
		}
	}
}

func (s *shards) agreed(k *kind, on table.Agreement) {
	k.Sourced, s.changed = on, true
	declare(s, k)
	s.book.Declare(k.Type)
	s.touch(k)
}

// promised reports whether all nodes that may run shards of a type run no other entities.
func (s *shards) promised(k *kind) bool {
	if _, strange := s.strangers.running(s.nodes.Now()); strange && s.cfg.Forgetful {
		return false
	}
	return !slices.ContainsFunc(k.shards, func(sh *shard) bool {
		nowhere := sh.stage == homeless && len(s.nodes.PlacesOf(sh.label)) == 0
		return !nowhere && s.offers[sh.On()][k.Name].Entities != table.EventSourced // former members offer nothing
	})
}

// recall takes over what a former coordinator without a journal has told a node.
func (s *shards) recall(o Offer) {
	if k := s.kinds[o.Type.Name]; k != nil && s.cfg.Forgetful && k.Sourced < o.Type.Sourced {
		s.agreed(k, o.Type.Sourced)
	}
}

// sourced reports whether a member has event-sourced entities of a type, and none has had others.
func (all offers) sourced(k *kind) (some bool) {
	for _, of := range all {
		switch of[k.Name].Entities {
		case table.Plain:
			return false
		case table.EventSourced:
			some = true
		case table.Unknown:
		}
	}
	return some
}

// fenced reports whether the journal fences whatever runs of a shard.
func (sh *shard) fenced() bool { return sh.typ.Sourced == table.Agreed }
