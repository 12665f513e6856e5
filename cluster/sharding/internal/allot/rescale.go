package allot

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/cluster/sharding/internal/table"
)

// rescale wants another number of shards for a type of daemons. All of its shards end before the
// first one starts again, because each of them has another part of the work then. The answer comes
// when the nodes know the number.
func rescale(s *shards, in Rescale) {
	k := s.kinds[in.Type]
	if k == nil || k.Mode != table.Daemons { // the number has been checked
		s.nodes.Reply(in.Token, nil, fmt.Errorf("the coordinator knows no daemons %q yet; try again", in.Type))
		return
	}
	s.waiting[k] = append(s.waiting[k], in.Token)
	if wanted := cmp.Or(k.next, k.Shards); wanted != in.Shards {
		k.next = in.Shards
		declare(s, k)
	}
	s.touch(k)
}

// endRescaling gives types whose shards have all ended their new numbers.
func endRescaling(s *shards) {
	for _, name := range slices.Sorted(maps.Keys(s.kinds)) {
		k := s.kinds[name]
		if k.next > 0 && vacant(s, k) {
			k.Shards, k.next = k.next, 0
			k.grow(k.Shards)
			declare(s, k)
			s.book.Declare(k.Type)
			k.declaredAt, s.changed = s.book.Version(), true
			s.touch(k)
		}
	}
}

// vacant reports whether no shard of a type runs.
func vacant(s *shards, k *kind) bool {
	for _, sh := range k.shards {
		if sh.stage != homeless || len(s.nodes.PlacesOf(sh.label)) > 0 {
			return false
		}
	}
	return true
}

// answerRescales answers those whose number of daemons all nodes know that can be reached.
func (m *Machine) answerRescales() {
	for k, tokens := range m.shards.waiting {
		if k.next > 0 || !m.allKnow(k) {
			continue
		}
		for _, t := range tokens {
			m.nodes.Reply(t, nil, nil)
		}
		delete(m.shards.waiting, k)
	}
}

func (m *Machine) allKnow(k *kind) bool {
	for _, n := range m.nodes.View().Nodes {
		id := home.IDOf(n)
		if _, offers := m.shards.offers[id][k.Name]; offers && n.Reachable && m.has[id].Less(k.declaredAt) {
			return false
		}
	}
	return true
}
