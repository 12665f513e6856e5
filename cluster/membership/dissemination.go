package membership

import (
	"maps"
	"slices"
	"time"
)

// A dissemination sends heartbeats, and tells other members what is new.
type dissemination struct {
	*core
	near    neighbours
	beatAt  time.Time // when the next heartbeat is due
	seq     uint64
	eager   bool             // there is something that the next heartbeat will tell
	spokeAt time.Time        // when the last heartbeat went out, due or not
	guests  map[ID]time.Time // who has asked for heartbeats, and until when it gets them
}

// beatWhenDue sends the heartbeat, at the tick that is nearest to when it is due: a tick
// that comes a little early must not make it late by a whole one.
func (d *dissemination) beatWhenDue() {
	set := d.set.Detector
	if d.now.Add(set.CheckEvery / 2).Before(d.beatAt) {
		return
	}
	d.beatAt = d.beatAt.Add(set.Interval)
	if d.beatAt.Before(d.now) {
		d.beatAt = d.now.Add(set.Interval) // it has been asleep
	}
	d.beat()
}

// beat sends the regular heartbeat to those who observe this node.
func (d *dissemination) beat() {
	d.eager, d.spokeAt = false, d.now
	to := d.audience()
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

// beatWhenEager tells the neighbours what is new without waiting until a heartbeat is due,
// but not too often, so that members agree within milliseconds.
func (d *dissemination) beatWhenEager() {
	if !d.eager || d.phase != member || d.now.Sub(d.spokeAt) < newsEvery {
		return
	}
	d.eager, d.spokeAt = false, d.now
	msg := d.heartbeat()
	msg.Stream = true
	for _, id := range slices.Concat(d.audience(), d.near.fingers) {
		d.tell(id, msg)
	}
}

func (d *dissemination) heartbeat() heartbeat {
	return heartbeat{
		Cluster: d.table.cluster,
		Seq:     d.seq,
		Members: d.sums.members,
		All:     d.sums.all,
		Seen:    slices.Clone(d.witnesses.bits),
	}
}

// tellNews tells all members directly what this node has decided, and by gossip whatever
// is new. Who misses both is made good for by the sums in the heartbeats. Gossip brings
// entries one by one: from a node that gives itself up together with others it brings
// nothing, as who hears first of the one would believe nothing more of what it says.
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

// audience returns to whom heartbeats go: the observers, and those who have asked for it.
func (d *dissemination) audience() []ID {
	ids := d.near.observers
	for _, id := range slices.SortedFunc(maps.Keys(d.guests), ID.Compare) {
		if _, is := d.table.members[id]; is && !slices.Contains(ids, id) {
			ids = append(slices.Clip(ids), id)
		}
	}
	return ids
}

// beObserved answers a member that misses our heartbeats: it gets one at once, and then
// each. Either it has our table soon, or we have its, and it gets them anyway or asks no
// more. So it is never taken for a silence that two tables differ.
func (d *dissemination) beObserved(by ID) {
	d.guests[by] = d.now.Add(guestFor)
	msg := d.heartbeat()
	msg.Stream = true
	d.tell(by, msg)
}
