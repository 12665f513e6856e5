package singleton

import (
	"hash/fnv"
	"maps"
	"slices"

	"github.com/understudy-go/understudy/internal/node"
)

// A directory is what a node knows of the singletons of all nodes: which of them have a
// manager for which singleton, and what the generations are. Events go in, and what is to
// be sent comes out; it reads no clock and sends nothing itself. See exchange.go for the
// protocol.
//
// Of a node that has not said yet what it has managers for, any may run: it counts as one
// that has a manager for each. And until this node has heard from all members that were up
// before it, it counts as not up, so that nothing starts here by a term that has been used.
type directory struct {
	topo    Topology // without what differs from one singleton to another
	learned bool     // all that were up when this incarnation came have said what they know

	own    row
	unsaid map[string]bool // names of own.offers that have changed since own.version, or of records

	peers map[node.ID]*peer // the other members
	gone  map[node.ID]*row  // those of topo.Gone
	order []node.ID         // of peers
	turn  int               // whose turn it is to be compared: an index of order
	early map[node.ID]wireCompare

	records map[string]Record
	sum     uint64          // of the records
	dirty   map[string]bool // names of which something has changed that managers here have not been told
}

// A row is what one node has managers for, as it was at a version of its own; version 0 is
// what is not known.
type row struct {
	version uint64
	offers  map[string]string // by name
}

// A peer is another member and its row.
type peer struct {
	row
	reachable bool
	acked     uint64               // the version of our row that it has said it knows
	asked     bool                 // it has been asked for its row, as something is missing
	differed  bool                 // its records were others than ours, the last time
	incoming  map[node.ID]*partial // rows of which it has sent some parts, by whose they are
}

type partial struct {
	row
	next int
}

func newDirectory() *directory {
	return &directory{
		own:    row{version: 1, offers: map[string]string{}},
		unsaid: map[string]bool{}, peers: map[node.ID]*peer{}, gone: map[node.ID]*row{},
		early: map[node.ID]wireCompare{}, records: map[string]Record{}, dirty: map[string]bool{},
	}
}

// offer notes that this node has a manager, in place of one of the same name.
func (d *directory) offer(text string) {
	name := offerName(text)
	d.own.offers[name] = text
	d.unsaid[name], d.dirty[name] = true, true
}

// withdraw notes that this node has no manager of that name any more.
func (d *directory) withdraw(name string) {
	delete(d.own.offers, name)
	d.unsaid[name] = true
}

// record raises what is known of a singleton's generations, by what a manager here says.
func (d *directory) record(name string, r Record) {
	if d.raise(name, r) {
		d.unsaid[name] = true
	}
}

// raise takes over a record, and reports whether it says anything new. No manager says a
// term above the greatest.
func (d *directory) raise(name string, r Record) bool {
	old := d.records[name]
	merged := old.Merge(r)
	if merged == old || r.Term > maxTerm {
		return false
	}
	d.sum += sumOf(name, merged) - sumOf(name, old)
	d.records[name] = merged
	return true
}

// sumOf stands for a record in comparisons; 0 is what none is.
func sumOf(name string, r Record) uint64 {
	if r == (Record{}) {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	sum := h.Sum64() ^ r.Term*0x9e3779b97f4a7c15
	if r.Fenced {
		sum = sum*31 + 1
	}
	if r.Finished {
		sum = sum*31 + 2
	}
	return sum
}

// topology is what the manager of that name is to know.
func (d *directory) topology(name string) Topology {
	t := d.topo
	t.record = d.records[name]
	t.Members = slices.Clone(t.Members)
	for i := range t.Members {
		m := &t.Members[i]
		switch p, other := d.peers[m.ID]; {
		case m.ID == t.Self:
			m.offered, m.Up = d.own.offers[name], m.Up && d.learned
		case other:
			m.offered, m.assumed = p.offer(name)
		}
	}
	t.Gone = slices.Clone(t.Gone)
	for i := range t.Gone {
		t.Gone[i].offered, t.Gone[i].assumed = d.gone[t.Gone[i].ID].offer(name)
	}
	return t
}

// offer returns what the node says of its manager for a singleton. Of a node that has not
// said anything one is assumed, of which nothing is known.
func (r *row) offer(name string) (text string, assumed bool) {
	if r.version == 0 {
		return name, true
	}
	return r.offers[name], false
}

// changed returns the singletons of which something has changed since it was last asked.
func (d *directory) changed() []string {
	if len(d.dirty) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(d.dirty))
	clear(d.dirty)
	return names
}

// touchAll says that something has changed for all managers here.
func (d *directory) touchAll() {
	for name := range d.own.offers {
		d.dirty[name] = true
	}
}
