package singleton

import (
	"context"
	"iter"
	"reflect"
	"slices"
	"time"

	"github.com/understudy-go/understudy/internal/node"
)

// A Locator is what singletons need of a cluster. cluster.Node hands one to [Attach].
type Locator interface {
	// Topologies yields the topology as it is, and then whenever it has changed, the
	// newest only, until ctx ends.
	Topologies(ctx context.Context) iter.Seq[Topology]
}

// A Peer is a member of the cluster, as singletons see it.
type Peer struct {
	ID        node.ID
	Name      string
	Up        bool   // may host
	UpNumber  uint64 // the order in which members came up: the oldest has the lowest; 0 while joining
	Reachable bool
	Roles     []string
	Meta      map[string]string

	offered string // what it says of its manager for the one singleton that the topology is about, see offer; "" without one
	assumed bool   // it has not been heard of yet, and is only assumed to have one
}

// A Topology is what a node knows of its cluster at one moment.
type Topology struct {
	Self    node.ID
	Down    bool   // this node has been removed or is about to be: it must stop its instances
	Members []Peer // those not removed, this node included, in the order of election

	// Gone are former members that were removed without a sign that they have stopped.
	Gone []Gone

	// Margin is how long after such a removal an instance may still be running there: the
	// time a cut-off node needs to notice and to stop.
	Margin time.Duration

	record Record // of the one singleton that the topology is about
}

// A Gone is a former member, of which nobody knows whether it still runs.
type Gone struct {
	Peer
	Since time.Time // when this node saw it removed
}

// A Record is what a cluster remembers of a singleton: of two, the one with the higher
// term is right; of one term, Fenced once is fenced. Finished once is finished.
type Record struct {
	_        struct{} `cbor:",toarray"`
	Term     uint64   // the highest ever started
	Fenced   bool     // the instance of that term fences its writes by a journal
	Finished bool     // the singleton has ended for good
}

// Merge returns what is known when both r and o are.
func (r Record) Merge(o Record) Record {
	finished := r.Finished || o.Finished
	switch {
	case r.Term < o.Term:
		r = o
	case r.Term == o.Term:
		r.Fenced = r.Fenced || o.Fenced
	}
	r.Finished = finished
	return r
}

// same reports whether o says nothing else than t, which came before: when a node saw others
// removed does not change.
func (t Topology) same(o Topology) bool {
	return t.Self == o.Self && t.Down == o.Down && t.Margin == o.Margin && reflect.DeepEqual(t.Members, o.Members) &&
		slices.EqualFunc(t.Gone, o.Gone, func(a, b Gone) bool { return a.ID == b.ID })
}

// candidate reports whether p could host the singleton, were it up.
func (p Peer) candidate(role string) bool {
	return role == "" || slices.Contains(p.Roles, role)
}

func (t Topology) hasMemberAt(address string) bool {
	return slices.ContainsFunc(t.Members, func(p Peer) bool { return p.ID.Address == address })
}

func (t *Topology) reachable(id node.ID) bool {
	p, member := t.member(id)
	return member && p.Reachable
}

// lost reports whether id is a member that cannot be reached, or has been removed without a
// sign that it has stopped.
func (t *Topology) lost(id node.ID) bool {
	if p, member := t.member(id); member {
		return !p.Reachable
	}
	return slices.ContainsFunc(t.Gone, func(g Gone) bool { return g.ID == id })
}

func (t Topology) member(id node.ID) (Peer, bool) {
	for _, p := range t.Members {
		if p.ID == id {
			return p, true
		}
	}
	return Peer{}, false
}
