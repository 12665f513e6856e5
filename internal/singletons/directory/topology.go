package directory

import (
	"reflect"
	"slices"
	"time"

	"github.com/understudy-go/understudy/internal/singletons/wire"
	"github.com/understudy-go/understudy/remote"
)

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
	// is about; "" without a manager. A cluster leaves it empty.
	Advertisement string
	// Assumed reports that the member has not said yet which managers it has, so that one is
	// assumed. A cluster leaves it false.
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

	// Record is what is known of the one singleton that the topology is about. A cluster leaves it
	// empty.
	Record wire.Record
}

// A Gone is a former member that may still be running.
type Gone struct {
	Peer
	Since time.Time // when this node saw it removed
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
