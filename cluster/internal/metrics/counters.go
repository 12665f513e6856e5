// Package metrics turns what a node of a cluster counts, and its view of the members, into families
// of metrics.
package metrics

import (
	"math"
	"sync/atomic"

	"github.com/understudy-go/understudy/cluster/membership"
)

// Counters are what a node counts. The zero value is ready. Any goroutine may count and read.
type Counters struct {
	changes      [len(changes)]atomic.Uint64
	decisions    [len(decisions)]atomic.Uint64
	incarnations atomic.Uint64
	phi          atomic.Uint64 // the bits of a float64
}

var changes = [...]string{
	"joined", "up", "leaving", "exiting", "downed", "removed", "unreachable", "reachable", "leader changed", "membership lost",
}

func changeOf(e membership.Event) int {
	switch e.(type) {
	case membership.MemberJoined:
		return 0
	case membership.MemberUp:
		return 1
	case membership.MemberLeaving:
		return 2
	case membership.MemberExiting:
		return 3
	case membership.MemberDowned:
		return 4
	case membership.MemberRemoved:
		return 5
	case membership.MemberUnreachable:
		return 6
	case membership.MemberReachable:
		return 7
	case membership.LeaderChanged:
		return 8
	case membership.MembershipLost:
		return 9
	}
	panic("cluster: an event without a label")
}

var decisions = [...]membership.Decision{membership.DownOthers, membership.DownOurs, membership.DownAsOperatorAsks}

// Changed counts a change of the membership.
func (c *Counters) Changed(e membership.Event) { c.changes[changeOf(e)].Add(1) }

// Decided counts a decision of this node.
func (c *Counters) Decided(d membership.Decision) {
	for i, each := range decisions {
		if each == d {
			c.decisions[i].Add(1)
		}
	}
}

// Began counts an incarnation.
func (c *Counters) Began() { c.incarnations.Add(1) }

// Suspected sets the highest phi of the members that the node observes.
func (c *Counters) Suspected(phi float64) { c.phi.Store(math.Float64bits(phi)) }
