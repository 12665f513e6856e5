package membership

import (
	"maps"
	"slices"
	"time"
)

// A departure is how an incarnation ends.
type departure struct {
	*core
	leaving bool // the user has asked for it
	rejoin  bool // after the end
	partBy  time.Time
	acked   map[ID]bool
	known   map[string]bool // addresses where members live or lived
}

// leave begins the orderly end: others take over what this node runs.
func (d *departure) leave() {
	if d.leaving {
		return
	}
	d.leaving, d.rejoin = true, false
	switch d.phase {
	case idle, seeking:
		d.finish(nil)
	case member:
		change := d.change()
		self := d.table.members[d.self]
		self.Status = max(self.Status, Leaving)
		change.members[d.self] = self
		d.decide(change)
		d.afterwards(Drain{}) // all know that it leaves before it hands over
	case downed, parting, ended:
	}
}

// fall is the end of this incarnation that others have decided: it stops what it runs.
func (d *departure) fall(reason string, instead []string) {
	if d.phase != member {
		return
	}
	d.remember(instead)
	d.phase, d.rejoin = downed, d.set.Rejoin && !d.leaving
	d.do(Note{Warn: true, Text: "this node is down", Address: d.self.Address, Reason: reason})
	d.publish()
	d.do(Drain{})
}

// remember notes where other members live, to ask them later.
func (d *departure) remember(addresses []string) {
	for _, id := range d.others() {
		d.known[id.Address] = true
	}
	for _, address := range addresses {
		d.known[address] = true
	}
	delete(d.known, d.self.Address)
}

// drained: no singleton runs here any more. A node that has been given up is gone; one
// that leaves makes it known, and stops its actors while it is still a member, so that
// others hear what they say in the end.
func (d *departure) drained() {
	switch {
	case d.phase == downed:
		d.part()
	case d.phase == member && d.table.status(d.self) == Leaving:
		change := d.change()
		self := d.table.members[d.self]
		self.Status = Exiting
		change.members[d.self] = self
		d.decide(change)
		d.afterwards(Stop{})
	}
}

// stopped: no actor runs here any more.
func (d *departure) stopped() {
	if d.phase == member && d.table.status(d.self) == Exiting {
		d.part()
	}
}

// part is the end of membership: this node is gone, and tells everybody.
func (d *departure) part() {
	d.remember(nil)
	d.phase = parting
	d.partBy = d.now.Add(partPatience)
	for _, id := range d.others() {
		d.tell(id, gone{})
	}
	d.buryClean(d.self)
	d.publish()
	d.endWhenDue()
}

// endWhenDue ends this incarnation as soon as all who can be reached know that it is gone,
// or after a while.
func (d *departure) endWhenDue() {
	unreachable := d.table.unreachable()
	waits := slices.ContainsFunc(d.others(), func(id ID) bool {
		return len(unreachable[id]) == 0 && d.table.members[id].Status < Down && !d.acked[id]
	})
	if !waits || !d.now.Before(d.partBy) {
		d.finish(nil)
	}
}

func (d *departure) finish(err error) {
	d.phase = ended
	d.do(End{Rejoin: d.rejoin, Known: slices.Sorted(maps.Keys(d.known)), Err: err})
}

// buryClean removes a member that has said itself that nothing of it runs any more.
func (d *departure) buryClean(id ID) {
	if id != d.self {
		d.tell(id, goneSeen{})
	}
	if (d.phase != member && id != d.self) || d.table.status(id) == 0 {
		return
	}
	change := d.change()
	change.tombs[id] = tomb{Clean: true, At: d.unix()}
	d.decide(change)
}
