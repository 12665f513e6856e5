package singletonhook

import (
	"context"
	"iter"
	"reflect"
	"slices"
	"time"

	"github.com/understudy-go/understudy/internal/tenure"
	"github.com/understudy-go/understudy/remote"
)

// A Locator shows a cluster to singletons.
type Locator interface {
	// Topologies yields the present topology, and then the newest one after each change, until ctx
	// ends.
	Topologies(ctx context.Context) iter.Seq[Topology]
}

// Takers shows proxies the members to which they may send. A client sets one as the extension of
// its system; a node has its own.
type Takers interface {
	// Follow returns what one proxy sees of the singleton of that name.
	Follow(name string) Following
}

// A Following shows one proxy the members to which it may send.
type Following interface {
	// Takers returns the members that are up and can be reached, and have a manager for the
	// singleton, in the order of election. From then on the proxy sends to no others: a member that
	// leaves waits for that.
	Takers() []remote.NodeID

	// Leaves reports whether a member leaves: it passes on the messages that it has.
	Leaves(id remote.NodeID) bool

	// Listen calls changed, which must not block, after each change of what Takers returns, until
	// cancel is called. It is called once.
	Listen(changed func()) (cancel func())
}

// A Peer is a member of the cluster, as singletons see it.
type Peer struct {
	ID        remote.NodeID
	Name      string
	Up        bool   // may host
	Leaves    bool   // passes on the messages that it has, and then goes
	UpNumber  uint64 // the order in which members came up: the oldest has the lowest; 0 while joining
	Reachable bool
	Roles     []string
	Meta      map[string]string

	// Advertisement is what the member says of its manager for the one singleton that the topology
	// is about; "" without a manager. A Locator leaves it empty.
	Advertisement string
	// Assumed reports that the member has not said yet which managers it has, so that one is
	// assumed. A Locator leaves it false.
	Assumed bool
}

// A Topology is what a node knows of its cluster at one moment.
type Topology struct {
	Self    remote.NodeID
	Down    bool   // this node has been removed or is about to be: it must stop its instances
	Members []Peer // those not removed, this node included, in the order of election

	// Gone are the former members that were removed without a sign that they have stopped.
	Gone []Gone

	// Margin is how long an instance may still run on such a member after its removal: the time
	// that a partitioned node needs to notice and to stop.
	Margin time.Duration

	// Record is what is known of the one singleton that the topology is about. A Locator leaves it
	// empty.
	Record Record
}

// A Gone is a former member that may still be running.
type Gone struct {
	Peer
	Since time.Time // when this node saw it removed
}

// A Record is what a cluster remembers of a singleton.
type Record struct {
	_        struct{} `cbor:",toarray"`
	Term     uint64   // the highest ever started
	Seq      uint64   // the last of that term that a journal has accepted; 0 unless Fenced
	Fenced   bool     // the instance of that term fences its writes by a journal
	Finished bool     // the singleton has ended for good
}

// Merge returns what both records say together: the higher term counts, of one term the higher Seq,
// Fenced once is fenced, and Finished once is finished.
func (r Record) Merge(o Record) Record {
	finished := r.Finished || o.Finished
	switch {
	case r.Term < o.Term:
		r = o
	case r.Term == o.Term:
		r.Seq, r.Fenced = max(r.Seq, o.Seq), r.Fenced || o.Fenced
	}
	r.Finished = finished
	return r
}

// Generation returns the last generation that a journal has accepted; ok is false without one.
func (r Record) Generation() (g tenure.Generation, ok bool) {
	return tenure.Generation{Term: r.Term, Seq: r.Seq}, r.Fenced
}

// Same reports whether o says the same as t, apart from when a node saw others removed.
func (t *Topology) Same(o *Topology) bool {
	return t.Self == o.Self && t.Down == o.Down && t.Margin == o.Margin && reflect.DeepEqual(t.Members, o.Members) &&
		slices.EqualFunc(t.Gone, o.Gone, func(a, b Gone) bool { return a.ID == b.ID })
}

// HasMemberAt reports whether a member has that address, whatever its incarnation.
func (t *Topology) HasMemberAt(address string) bool {
	return slices.ContainsFunc(t.Members, func(p Peer) bool { return p.ID.Address == address })
}

// Reachable reports whether id is a member that can be reached.
func (t *Topology) Reachable(id remote.NodeID) bool {
	p, member := t.Member(id)
	return member && p.Reachable
}

// IsUp reports whether id is a member that may host.
func (t *Topology) IsUp(id remote.NodeID) bool {
	p, _ := t.Member(id)
	return p.Up
}

// Leaves reports whether id is a member that passes on what it has. A member that is down does not,
// although it is not up either.
func (t *Topology) Leaves(id remote.NodeID) bool {
	p, _ := t.Member(id)
	return p.Leaves
}

// Lost reports whether id is a member that cannot be reached, or a former one that may still be
// running.
func (t *Topology) Lost(id remote.NodeID) bool {
	if p, member := t.Member(id); member {
		return !p.Reachable
	}
	return slices.ContainsFunc(t.Gone, func(g Gone) bool { return g.ID == id })
}

// Member returns the member of that identity.
func (t *Topology) Member(id remote.NodeID) (Peer, bool) {
	for _, p := range t.Members {
		if p.ID == id {
			return p, true
		}
	}
	return Peer{}, false
}
