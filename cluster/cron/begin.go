package cron

import (
	"cmp"
	"slices"
	"time"
)

// A key identifies a run.
type key struct {
	Name string
	Due  int64 // in nanoseconds since 1970
}

// keyOf returns the key of the run of an entry that was due then.
func keyOf(name string, due time.Time) key { return key{Name: name, Due: due.UnixNano()} }

// A host is where runs begin.
type host struct {
	Node       string
	Process    uint64
	Generation uint64
	Running    func(key) bool // the run goes on here
	Room       int            // so many more may run here
}

// A candidate is a run that may begin.
type candidate struct {
	name string
	OpenRun
}

// beginDue returns the facts about runs that begin now, those that were due first before the
// others. A run that was going on elsewhere, on a host that has ended, begins again as another
// attempt. It is given up if that has happened too often; restarts of the instance in one process
// do not count. If its entry was removed, it begins again once the entry is back.
func beginDue(l ledger, h host, now time.Time) []fact {
	var facts []fact
	var all []candidate
	for name, i := range l.Items {
		for _, o := range mayBegin(i, func(o OpenRun) bool { return h.Running(keyOf(name, o.Due)) }) {
			switch {
			case o.Hosts >= maxHosts && o.hostedElsewhere(h.Process, h.Generation):
				facts = append(facts, runEnded{Name: name, Due: o.Due, Outcome: Failed, Error: "given up: each host of it has ended during the run", At: now})
			default:
				all = append(all, candidate{name, o})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.name, b.name)) })
	for _, c := range all[:min(len(all), max(h.Room, 0))] {
		facts = append(facts, runBegun{
			Name: c.name, Due: c.Due, Attempt: c.Attempt + 1,
			Generation: h.Generation, Node: h.Node, Process: h.Process, At: now,
		})
	}
	return facts
}

// mayBegin returns the runs of an entry that may begin now. Any of them may be running, because the
// entry may have allowed it before.
func mayBegin(i *item, running func(OpenRun) bool) []OpenRun {
	switch {
	case i.Removed:
		return nil
	case i.Entry.Overlap == Allow:
		return slices.DeleteFunc(slices.Clone(i.Open), running)
	case slices.ContainsFunc(i.Open, running):
		return nil
	}
	return i.Open[:min(len(i.Open), 1)]
}
