package membership

import (
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"slices"
)

const (
	// allToAll is the number of members up to which each member observes all others.
	allToAll = 12
	// observersOf is how many reachable members observe each one in larger clusters, so that
	// the cost of detection per node does not grow with the cluster.
	observersOf = 9
)

// The neighbours of a member are the members that it exchanges heartbeats with. They follow
// from the table alone, so nodes with equal tables agree on the observers of each member.
//
// In larger clusters the members stand on a ring, ordered by the hashes of their IDs, and each
// observes the next nine. Exiting, down and unreachable members are observed as well, but do
// not count as one of the nine. Otherwise the death of a whole part of the ring could go
// unnoticed; and the opinion of an exiting member does not count.
//
// As each member observes nine others, the ring stays connected when any eight members are
// removed. News that go round it by heartbeats reach all members.
type neighbours struct {
	observed  []ID // the members that send heartbeats to this one
	observers []ID // the members that get this one's heartbeats
	fingers   []ID // members far away on the ring; they get news too, so that news spread fast
}

func (t table) neighbours(id ID) neighbours {
	return neighboursOf(id, t.ids(), t.counts())
}

// observers returns the observers of each member; nil if all observe each other.
func (t table) observers() map[ID][]ID {
	if len(t.members) <= allToAll {
		return nil
	}
	ring, counts := ringOf(t.ids()), t.counts()
	by := make(map[ID][]ID, len(ring))
	for at, id := range ring {
		by[id] = walk(ring, at, -1, counts)
	}
	return by
}

func (t table) counts() func(ID) bool {
	unreachable := t.unreachable()
	return func(id ID) bool { return t.members[id].Status < Exiting && len(unreachable[id]) == 0 }
}

func neighboursOf(id ID, members []ID, counts func(ID) bool) neighbours {
	if len(members) <= allToAll {
		others := slices.DeleteFunc(slices.Clone(members), func(each ID) bool { return each == id })
		return neighbours{observed: others, observers: others}
	}
	ring := ringOf(members)
	at := slices.Index(ring, id)
	if at < 0 {
		return neighbours{}
	}
	n := neighbours{observed: walk(ring, at, 1, counts), observers: walk(ring, at, -1, counts)}
	for step := 2 * observersOf; step < len(ring); step *= 2 {
		n.fingers = append(n.fingers, ring[(at+step)%len(ring)])
	}
	return n
}

// walk collects members from a place on the ring in one direction, until enough of them count.
func walk(ring []ID, at, step int, counts func(ID) bool) []ID {
	var ids []ID
	for i, enough := 1, 0; i < len(ring) && enough < observersOf; i++ {
		id := ring[(at+i*step+len(ring))%len(ring)]
		ids = append(ids, id)
		if counts(id) {
			enough++
		}
	}
	return ids
}

func ringOf(ids []ID) []ID {
	type placed struct {
		place uint64
		id    ID
	}
	all := make([]placed, len(ids))
	for i, id := range ids {
		all[i] = placed{place(id), id}
	}
	slices.SortFunc(all, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.place, b.place), a.id.Compare(b.id))
	})
	ring := make([]ID, len(ids))
	for i, p := range all {
		ring[i] = p.id
	}
	return ring
}

func place(id ID) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(binary.BigEndian.AppendUint64([]byte(id.Address), id.Incarnation))
	x := h.Sum64() // FNV hashes of similar inputs are similar, so mix the bits once more
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
