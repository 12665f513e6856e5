package membership

import (
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
