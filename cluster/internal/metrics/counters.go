// Package metrics turns what a node of a cluster counts, and its view of the members, into families
// of metrics.
package metrics

import (
	"math"
	"sync/atomic"

	"github.com/understudy-go/understudy/cluster/internal/membership"
)

// Counters are what a node counts. The zero value is ready. Any goroutine may count and read.
type Counters struct {
	changes      [len(changes)]atomic.Uint64
	decisions    [len(decisions)]atomic.Uint64
	incarnations atomic.Uint64
	phi          atomic.Uint64 // the bits of a float64
}

var changes = [...]string{
	membership.MemberJoined:      "joined",
	membership.MemberUp:          "up",
	membership.MemberLeaving:     "leaving",
	membership.MemberExiting:     "exiting",
	membership.MemberDowned:      "downed",
	membership.MemberRemoved:     "removed",
	membership.MemberUnreachable: "unreachable",
	membership.MemberReachable:   "reachable",
	membership.LeaderChanged:     "leader changed",
	membership.MembershipLost:    "membership lost",
}

var decisions = [...]membership.Decision{membership.DownOthers, membership.DownOurs, membership.DownAsOperatorAsks}

// Changed counts a change of the membership.
func (c *Counters) Changed(k membership.ChangeKind) { c.changes[k].Add(1) }

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
