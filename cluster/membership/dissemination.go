package membership

import (
	"maps"
	"slices"
	"time"
)

// A dissemination sends heartbeats, and tells other members what is new.
type dissemination struct {
	*core
	near     neighbours
	beatAt   time.Time // when the next heartbeat is due
	seq      uint64
	hasNews  bool             // there is something that the next heartbeat will tell
	sentAt   time.Time        // when the last heartbeat went out, due or not
	requests map[ID]time.Time // who has asked for heartbeats, and until when it gets them
}

// sendWhenDue sends the heartbeat, at the tick that is nearest to when it is due: a tick
// that comes a little early must not make it late by a whole one.
func (d *dissemination) sendWhenDue() {
	set := d.set.Detector
	if d.now.Add(set.CheckEvery / 2).Before(d.beatAt) {
		return
	}
	d.beatAt = d.beatAt.Add(set.Interval)
	if d.beatAt.Before(d.now) {
		d.beatAt = d.now.Add(set.Interval) // it has been asleep
	}
	d.send()
}

// send sends the regular heartbeat to those who observe this node.
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

// sendNewsHeartbeat tells the neighbours what is new before the next heartbeat is due, at most
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

// receivers returns the members that heartbeats go to: the observers of this node, and members
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
// follow for 30 s. So a difference between two tables is not mistaken for a failure.
func (d *dissemination) answerObserver(by ID) {
	d.requests[by] = d.now.Add(requestHolds)
	msg := d.heartbeat()
	msg.Stream = true
	d.tell(by, msg)
}
