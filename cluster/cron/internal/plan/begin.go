package plan

import (
	"cmp"
	"slices"
	"time"
)

// A Key identifies a run.
type Key struct {
	Name string
	Due  int64 // in nanoseconds since 1970
}

// KeyOf returns the key of the run of an entry that was due then.
func KeyOf(name string, due time.Time) Key { return Key{Name: name, Due: due.UnixNano()} }

// A Host is where runs begin.
type Host struct {
	Node       string
	Process    uint64
	Generation uint64
	Running    func(Key) bool // the run goes on here
	Room       int            // so many more may run here
}

// A candidate is a run that may begin.
type candidate struct {
	name string
	Open
}

// Begin returns the facts about runs that begin now, those that were due first before the others. A
// run that was going on elsewhere, on a host that has ended, begins again as another attempt. It is
// given up if that has happened too often; restarts of the instance in one process do not count. If
// its entry was removed, it begins again once the entry is back.
func Begin(l Ledger, h Host, now time.Time) []Fact {
	var facts []Fact
	var all []candidate
	for name, i := range l.Items {
		for _, o := range mayBegin(i, func(o Open) bool { return h.Running(KeyOf(name, o.Due)) }) {
			switch {
			case o.Hosts >= MaxHosts && o.hostedElsewhere(h.Process, h.Generation):
				facts = append(facts, RunEnded{Name: name, Due: o.Due, Outcome: Failed, Error: "given up: each host of it has ended during the run", At: now})
			default:
				all = append(all, candidate{name, o})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.name, b.name)) })
	for _, c := range all[:min(len(all), max(h.Room, 0))] {
		facts = append(facts, RunBegun{
			Name: c.name, Due: c.Due, Attempt: c.Attempt + 1,
			Generation: h.Generation, Node: h.Node, Process: h.Process, At: now,
		})
	}
	return facts
}

// mayBegin returns the runs of an entry that may begin now. Any of them may be running, because the
// entry may have allowed it before.
func mayBegin(i *Item, running func(Open) bool) []Open {
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
