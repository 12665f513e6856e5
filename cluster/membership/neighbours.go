package membership

import (
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"slices"
)

const (
	// allToAll is up to how many members everybody observes everybody.
	allToAll = 12
	// observersOf is how many reachable members observe each one when there are more, so
	// that what detection costs a node does not grow with the cluster.
	observersOf = 9
)

// Neighbours are the members that one of them has to do with all the time. They follow
// from the table alone, so nodes with equal tables agree on who observes whom.
//
// In a larger cluster the members stand on a ring, in order of hashes of their IDs, and
// each observes the next nine. Those that are exiting, down or unreachable are observed as
// well, but do not count as one of the nine: else nobody might notice when a part of the
// ring has died together, and of who is exiting the opinion counts for nothing. As each has nine to follow, the ring stays connected whatever eight
// members are taken out of it; news that go round it by heartbeats reach everybody.
type neighbours struct {
	observed  []ID // from whom heartbeats come
	observers []ID // to whom they go
	fingers   []ID // far away on the ring: to tell them as well makes news spread fast
}

// neighbours returns those of a member of the table.
func (t table) neighbours(id ID) neighbours {
	return neighboursOf(id, t.ids(), t.counts())
}

// observers returns who observes whom; nil if all observe each other.
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

// counts returns the test for who counts as one of the nine.
func (t table) counts() func(ID) bool {
	unreachable := t.unreachable()
	return func(id ID) bool { return t.members[id].Status < Exiting && len(unreachable[id]) == 0 }
}

// neighboursOf returns the neighbours of one of some members, of whom those count of the
// nine that pass a test.
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

// walk collects the members from a place on the ring on, in one direction, until enough
// of them count.
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

// ringOf sorts IDs by their hashes.
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

// place is where on the ring a member stands.
func place(id ID) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(binary.BigEndian.AppendUint64([]byte(id.Address), id.Incarnation))
	x := h.Sum64() // of similar inputs it is similar, so it is stirred once more
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
