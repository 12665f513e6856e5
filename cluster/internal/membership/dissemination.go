package membership

import (
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"maps"
	"slices"
	"time"
)

type dissemination struct {
	*core
	near     neighbours
	beatAt   time.Time // when the next heartbeat is due
	seq      uint64
	hasNews  bool             // the next heartbeat will contain something new
	sentAt   time.Time        // when the last heartbeat went out, due or not
	requests map[ID]time.Time // members that have asked for heartbeats, and until when each gets them
}

// sendWhenDue sends the heartbeat at the tick nearest to its due time. A tick that is slightly
// early must not delay the heartbeat by a whole tick.
func (d *dissemination) sendWhenDue() {
	set := d.set.Detector
	if d.now.Add(set.CheckEvery / 2).Before(d.beatAt) {
		return
	}
	d.beatAt = d.beatAt.Add(set.Interval)
	if d.beatAt.Before(d.now) {
		d.beatAt = d.now.Add(set.Interval) // this node was paused
	}
	d.send()
}

// send sends the regular heartbeat to the members that observe this node.
func (d *dissemination) send() {
	d.hasNews, d.sentAt = false, d.now
	to := d.receivers()
	if len(to) == 0 {
		return
	}
	d.seq++
	addresses := make([]string, len(to))
	for i, id := range to {
		addresses[i] = id.Address
	}
	d.do(Beat{To: addresses, msg: d.heartbeat()})
}

// sendNewsHeartbeat sends a change to the neighbours before the next heartbeat is due, at most
// every 20 ms, so that members agree within milliseconds.
func (d *dissemination) sendNewsHeartbeat() {
	if !d.hasNews || d.phase != phaseMember || d.now.Sub(d.sentAt) < newsEvery {
		return
	}
	d.hasNews, d.sentAt = false, d.now
	msg := d.heartbeat()
	msg.Stream = true
	for _, id := range slices.Concat(d.receivers(), d.near.fingers) {
		d.tell(id, msg)
	}
}

func (d *dissemination) heartbeat() heartbeat {
	return heartbeat{
		Cluster: d.table.cluster,
		Seq:     d.seq,
		Members: d.sums.members,
		All:     d.sums.all,
		Seen:    slices.Clone(d.seenBy.bits),
	}
}

// tellNews sends this node's own decisions directly to all members, and all changes by gossip.
// A member that misses both notices it from the sums in the heartbeats.
//
// A node that is down does not gossip. Gossip delivers entries one by one, so a receiver that
// first learns that this node is down would not believe its other entries.
func (d *dissemination) tellNews() {
	if !d.own.empty() {
		push := tablePush{From: d.self, Table: d.own.pack()}
		for _, id := range d.others() {
			d.tell(id, push)
		}
	}
	if !d.news.empty() && d.table.status(d.self) < Down {
		d.do(Spread{d.news})
	}
}

// receivers returns the members that get heartbeats: the observers of this node, and members
// that have asked for heartbeats.
func (d *dissemination) receivers() []ID {
	ids := d.near.observers
	for _, id := range slices.SortedFunc(maps.Keys(d.requests), ID.Compare) {
		if _, is := d.table.members[id]; is && !slices.Contains(ids, id) {
			ids = append(slices.Clip(ids), id)
		}
	}
	return ids
}

// answerObserver handles a member that misses our heartbeats: it gets one at once, and all that
// follow for 30 s. A difference between two tables is therefore not mistaken for a failure.
func (d *dissemination) answerObserver(by ID) {
	d.requests[by] = d.now.Add(requestHolds)
	msg := d.heartbeat()
	msg.Stream = true
	d.tell(by, msg)
}

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
