package membership

import (
	"maps"
	"slices"
)

type observation struct {
	*core
	monitor  monitor
	observed []ID        // the members that send heartbeats to this node
	doubted  map[ID]bool // members that this node observes because their address refused a connection
}

func (o *observation) writeRow(r row) {
	r.Version++
	change := o.change()
	change.rows[o.self] = r
	o.decide(change)
}

func (o *observation) watchSubjects() {
	ids := o.observed
	for _, id := range slices.SortedFunc(maps.Keys(o.doubted), ID.Compare) {
		switch _, is := o.table.members[id]; {
		case !is:
			delete(o.doubted, id)
		case !slices.Contains(ids, id):
			ids = append(slices.Clip(ids), id)
		}
	}
	o.monitor.watch(ids, o.now)
}

// report writes the members that this node does not hear from into its row, and asks members
// that are late for a heartbeat.
func (o *observation) report() {
	silent := o.monitor.look(o.now)
	for _, id := range o.monitor.overdue(o.now) {
		o.tell(id, observe{})
	}
	o.trust(silent)
	if r := o.table.rows[o.self]; !slices.Equal(silent, r.Unreachable) {
		r.Unreachable = silent
		o.writeRow(r)
	}
}

func (o *observation) trust(silent []ID) {
	before := len(o.doubted)
	maps.DeleteFunc(o.doubted, func(id ID, _ bool) bool { return !slices.Contains(silent, id) })
	if len(o.doubted) < before {
		o.watchSubjects()
	}
}

// refusedFor handles a refused connection: no process listens at the address, or another
// incarnation does. The member at that address is unreachable until a heartbeat arrives.
func (o *observation) refusedFor(ev DialFailed) {
	if !ev.Refused && ev.Lives == 0 || o.set.Detector.KeepRefused {
		return
	}
	for _, id := range o.table.at(ev.Address) {
		if id != o.self && id.Incarnation != ev.Lives {
			o.doubted[id] = true
			o.watchSubjects()
			o.monitor.refuse(id, o.now)
		}
	}
	o.report()
}
