package membership

import (
	"maps"
	"slices"
	"time"
)

type departure struct {
	*core
	leaving bool // the user has asked to leave
	rejoin  bool // a new incarnation follows
	endBy   time.Time
	acked   map[ID]bool
	known   map[string]bool // addresses where members live or lived
}

// leave begins an orderly departure: other members take over what this node runs.
func (d *departure) leave() {
	if d.leaving {
		return
	}
	d.leaving, d.rejoin = true, false
	switch d.phase {
	case phaseIdle, phaseJoining:
		d.finish(nil)
	case phaseMember:
		change := d.change()
		self := d.table.members[d.self]
		self.Status = max(self.Status, Leaving)
		change.members[d.self] = self
		d.decide(change)
		d.afterwards(Drain{}) // all members learn that it leaves before it hands over
	case phaseDowned, phaseDeparting, phaseEnded:
	}
}

// goDown ends this incarnation because other members have decided so. The node stops what it
// runs, and later rejoins as a new incarnation, unless [Settings.Rejoin] is false or the node
// is leaving.
func (d *departure) goDown(reason string, instead []string) {
	if d.phase != phaseMember {
		return
	}
	d.remember(instead)
	d.phase, d.rejoin = phaseDowned, d.set.Rejoin && !d.leaving
	d.lost = reason
	d.do(Note{Warn: true, Text: "this node is down", Address: d.self.Address, Reason: reason})
	d.publish()
	d.do(Drain{})
}

// remember stores the addresses of other members, so that the next incarnation can ask them.
func (d *departure) remember(addresses []string) {
	for _, id := range d.others() {
		d.known[id.Address] = true
	}
	for _, address := range addresses {
		d.known[address] = true
	}
	delete(d.known, d.self.Address)
}

// drained handles the report that no singleton runs here any more. A node that is down departs.
// A node that is leaving becomes exiting. It stops its actors while it is still a member, so
// that others receive their last messages.
func (d *departure) drained() {
	switch {
	case d.phase == phaseDowned:
		d.depart()
	case d.phase == phaseMember && d.table.status(d.self) == Leaving:
		change := d.change()
		self := d.table.members[d.self]
		self.Status = Exiting
		change.members[d.self] = self
		d.decide(change)
		d.afterwards(Stop{})
	}
}

func (d *departure) stopped() {
	if d.phase == phaseMember && d.table.status(d.self) == Exiting {
		d.depart()
	}
}

func (d *departure) depart() {
	d.remember(nil)
	d.phase = phaseDeparting
	d.endBy = d.now.Add(departPatience)
	for _, id := range d.others() {
		d.tell(id, gone{})
	}
	d.removeClean(d.self)
	d.publish()
	d.endWhenDue()
}

// endWhenDue ends this incarnation as soon as all reachable members have acknowledged its
// departure, or after departPatience.
func (d *departure) endWhenDue() {
	unreachable := d.table.unreachable()
	waits := slices.ContainsFunc(d.others(), func(id ID) bool {
		return len(unreachable[id]) == 0 && d.table.members[id].Status < Down && !d.acked[id]
	})
	if !waits || !d.now.Before(d.endBy) {
		d.finish(nil)
	}
}

func (d *departure) finish(err error) {
	d.phase = phaseEnded
	d.do(End{Rejoin: d.rejoin, Known: slices.Sorted(maps.Keys(d.known)), Err: err})
}

// removeClean removes a member that has said that nothing of it runs any more.
func (d *departure) removeClean(id ID) {
	if id != d.self {
		d.tell(id, goneSeen{})
	}
	if (d.phase != phaseMember && id != d.self) || d.table.status(id) == 0 {
		return
	}
	change := d.change()
	change.tombstones[id] = tombstone{Clean: true, At: d.unix()}
	d.decide(change)
}
