// Package directory contains what a node knows of the singletons of all nodes: which nodes have a
// manager for which singleton, and what the cluster remembers of each. It is pure: messages of
// other nodes go in, and messages to send come out.
package directory

import (
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"github.com/understudy-go/understudy/internal/singletons/wire"
	"github.com/understudy-go/understudy/remote"
)

// A Directory is the knowledge of one node. The protocol is in exchange.go.
//
// A node that has not said yet which managers it has counts as one that has all. This node counts
// as not up until it has heard from all members that were up before it. So nothing starts here
// under a term that has been used.
type Directory struct {
	topo    Topology // without the parts that differ between singletons
	learned bool     // all members that were up before this incarnation have said what they know

	own    row
	unsaid map[string]bool // singletons that have changed here since own.version

	peers map[remote.NodeID]*peer // the other members
	gone  map[remote.NodeID]*row  // the rows of topo.Gone
	order []remote.NodeID         // of peers
	turn  int                     // the peer to compare with next: an index of order
	early map[remote.NodeID]wire.Message[wire.Compare]

	records map[string]wire.Record
	sum     uint64          // the checksum of the records
	dirty   map[string]bool // singletons that have changed since the managers here were told
	watched map[string]bool // singletons of which this node wants the changes, without a manager
}

// A row lists the managers of one node, as of a version that the node counts. Version 0 is unknown.
type row struct {
	version    uint64
	advertised map[string]string // by name
}

type peer struct {
	row
	reachable bool
	acked     uint64                     // the version of our row that it has confirmed
	asked     bool                       // it has been asked for its row, because something is missing
	differed  bool                       // its records differed from ours the last time
	incoming  map[remote.NodeID]*partial // rows of which it has sent some parts, by owner
}

type partial struct {
	row
	next int
}

// New returns the directory of a node that has not seen a topology.
func New() *Directory {
	return &Directory{
		own:    row{version: 1, advertised: map[string]string{}},
		unsaid: map[string]bool{}, peers: map[remote.NodeID]*peer{}, gone: map[remote.NodeID]*row{},
		early: map[remote.NodeID]wire.Message[wire.Compare]{}, records: map[string]wire.Record{}, dirty: map[string]bool{}, watched: map[string]bool{},
	}
}

// Advertise notes that this node has a manager, in place of one of the same name.
func (d *Directory) Advertise(text string) {
	name := AdvertisedName(text)
	d.own.advertised[name] = text
	d.unsaid[name], d.dirty[name] = true, true
}

// Withdraw notes that this node has no manager of that name any more.
func (d *Directory) Withdraw(name string) {
	delete(d.own.advertised, name)
	d.unsaid[name], d.dirty[name] = true, true
}

// Watch includes the singleton of that name in what Changed returns, also without a manager here.
func (d *Directory) Watch(name string) { d.watched[name], d.dirty[name] = true, true }

// Unwatch ends what Watch has begun.
func (d *Directory) Unwatch(name string) { delete(d.watched, name) }

// SetRecord merges a record from a manager here.
func (d *Directory) SetRecord(name string, r wire.Record) {
	if d.raise(name, r) {
		d.unsaid[name] = true
	}
}

// raise merges a record, and reports whether it contains anything new. It ignores terms above the
// greatest possible one.
func (d *Directory) raise(name string, r wire.Record) bool {
	old := d.records[name]
	merged := old.Merge(r)
	if merged == old || r.Term > wire.MaxTerm {
		return false
	}
	d.sum += sumOf(name, merged) - sumOf(name, old)
	d.records[name] = merged
	return true
}

func sumOf(name string, r wire.Record) uint64 {
	if r == (wire.Record{}) {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // never fails
	sum := h.Sum64() ^ r.Term*0x9e3779b97f4a7c15
	if r.Fenced {
		sum = sum*31 + r.Seq + 1
	}
	if r.Finished {
		sum = sum*31 + 2
	}
	return sum
}

// Topology returns the topology for the manager of a singleton.
func (d *Directory) Topology(name string) Topology {
	t := d.topo
	t.Record = d.records[name]
	t.Members = slices.Clone(t.Members)
	for i := range t.Members {
		m := &t.Members[i]
		switch p, other := d.peers[m.ID]; {
		case m.ID == t.Self:
			m.Advertisement, m.Up = d.own.advertised[name], m.Up && d.learned
		case other:
			m.Advertisement, m.Assumed = p.advertisement(name)
		}
	}
	t.Gone = slices.Clone(t.Gone)
	for i := range t.Gone {
		t.Gone[i].Advertisement, t.Gone[i].Assumed = d.gone[t.Gone[i].ID].advertisement(name)
	}
	return t
}

// advertisement returns the node's advertisement for a singleton. A node that has not said anything
// is assumed to have a manager with unknown settings.
func (r *row) advertisement(name string) (text string, assumed bool) {
	if r.version == 0 {
		return name, true
	}
	return r.advertised[name], false
}

// Self returns this node's incarnation in the last topology.
func (d *Directory) Self() remote.NodeID { return d.topo.Self }

// Record returns what is known of a singleton.
func (d *Directory) Record(name string) wire.Record { return d.records[name] }

// Changed returns the singletons that have changed since the last call.
func (d *Directory) Changed() []string {
	if len(d.dirty) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(d.dirty))
	clear(d.dirty)
	return names
}

// touchAll marks the singletons of all managers here, and those that are watched, as changed.
func (d *Directory) touchAll() {
	maps.Copy(d.dirty, d.watched)
	for name := range d.own.advertised {
		d.dirty[name] = true
	}
}

// A Known is what a node knows of one singleton of its cluster, whether or not it has a manager for
// it.
type Known struct {
	Name     string
	Record   wire.Record
	Managers []remote.NodeID // the members that have one, in the order of election
}

// All returns what is known of the singletons that some member has a manager for, sorted by name.
func (d *Directory) All() []Known {
	all := map[string]*Known{}
	for _, m := range d.topo.Members {
		for name := range d.row(m.ID).advertised {
			k := all[name]
			if k == nil {
				k = &Known{Name: name, Record: d.records[name]}
				all[name] = k
			}
			k.Managers = append(k.Managers, m.ID)
		}
	}
	known := make([]Known, 0, len(all))
	for _, k := range all {
		known = append(known, *k)
	}
	slices.SortFunc(known, func(a, b Known) int { return strings.Compare(a.Name, b.Name) })
	return known
}

// Managers returns the members that have a manager for a singleton, in the order of election.
func (d *Directory) Managers(name string) []remote.NodeID {
	var ids []remote.NodeID
	for _, m := range d.topo.Members {
		if _, has := d.row(m.ID).advertised[name]; has {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// Takers returns those of Managers that are up and can be reached.
func (d *Directory) Takers(name string) []remote.NodeID {
	var ids []remote.NodeID
	for _, m := range d.topo.Members {
		if _, has := d.row(m.ID).advertised[name]; has && m.Up && m.Reachable {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

// Leaves reports whether id is a member that hosts nothing any more.
func (d *Directory) Leaves(id remote.NodeID) bool {
	p, member := d.topo.Member(id)
	return member && !p.Up
}

func (d *Directory) row(id remote.NodeID) row {
	if id == d.topo.Self {
		return d.own
	}
	if p, other := d.peers[id]; other {
		return p.row
	}
	return row{}
}
