package sharding

import (
	"errors"
	"fmt"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/sharding/internal/allot"
	"github.com/understudy-go/understudy/singleton/lease"
)

// WithLease lets a node host shards of the type only while it has a lease of its own. Then an
// entity never runs twice, even if a node is paused or partitioned, provided that no handler takes
// longer than the lease lasts; see package lease. Use it for entities that write to more than a
// journal. It takes the place of the removal margin.
//
// cluster.Config.Leases gives every type of a node a lease; WithLease takes precedence. The
// function leases is like that field. The name of a lease has the name of the cluster, the type and
// the name of the node. The owner is the address of the node that asks.
//
// A node that does not get its lease, for whatever reason, hosts nothing of the type, and asks
// again after five seconds. A node that loses its lease ends the shards at once: handlers return,
// and other messages wait until the shards run elsewhere. A node that leaves gives the lease back
// when its shards have ended.
//
// When a node has crashed, the coordinator asks every five seconds for the lease of that node, and
// gives it back at once. Only then do its shards start elsewhere: at the latest when the lease has
// expired and the coordinator has asked again.
//
// Give all nodes the option, also those with [ProxyOnly], because any of them may have the
// coordinator; a node without it hosts without a lease. It needs cluster.Config.Journal, which says
// what the former members ran; without it, [Start] returns persistence.ErrNoJournal. It has no
// effect without a cluster.
func WithLease(leases func(name, owner string) (lease.Lease, error)) Option {
	return func(s *settings) {
		if leases == nil {
			s.wrong = errors.New("sharding: WithLease got nil; give it a function that returns leases, or leave it out")
		}
		s.leases = leases
	}
}

// errLeaseLost ends entities: their node has lost its lease.
var errLeaseLost = errors.New("sharding: the node has lost its lease for the type")

// leaseOf returns a handle of the lease of a node for the type of a region.
func leaseOf(s *actor.System, r *region, nodeName string) (lease.Lease, error) {
	leases, typ := r.set.leases, r.signature().Name
	if leases == nil {
		return nil, fmt.Errorf("type %q has been started without a lease on this node", typ)
	}
	return leases.New(s.Name()+"-sharding-"+escape(typ)+"/"+escape(nodeName), s.Address())
}

// leased reports whether this node hosts the type only while it has a lease.
func (s settings) leased() bool { return s.leases != nil && s.hosts }

func (r *region) lease() *leaseTerm { return &r.tenure }

// breakOff ends all shards here, because of the lease.
func (r *region) breakOff(why error) {
	for _, l := range r.lanes {
		l.breakOff(why)
	}
}

func (l *lane) breakOff(why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.residents != nil && l.residents.hooks.gate != nil {
		l.residents.breaks(why)
	}
}

// offerOf returns what this node offers of a region.
func offerOf(r *region) allot.Offer {
	return allot.Offer{Type: r.signature(), Hosts: r.set.hosts, Leased: r.set.leased()}
}
