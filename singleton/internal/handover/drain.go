package handover

import (
	"github.com/understudy-go/understudy/internal/recall"
	"github.com/understudy-go/understudy/internal/singletonhook"
	"github.com/understudy-go/understudy/remote"
)

// A drain is the work of a manager before its node leaves, so that leaving loses no message. First
// all members confirm that they no longer send messages here. Messages between two nodes stay in
// order, so a member that has confirmed has no message in flight to this node. Then the next host
// confirms that none of the messages sent to it waits.
type drain struct {
	begun     bool                   // the members are to confirm
	confirmed map[remote.NodeID]bool // those that have

	settle recall.Barrier // to the next host
	sends  uint64         // how many messages had been sent when it was asked
	rounds int            // how many times it has answered
}

// maxRounds bounds the questions to the next host, because actors here may go on sending.
const maxRounds = 10

// begin begins to drain. hosted means that other nodes may send messages here. It reports whether
// the members must be told.
func (d *drain) begin(hosted bool) (tell bool) {
	if d.begun || !hosted {
		return false
	}
	d.begun, d.confirmed = true, make(map[remote.NodeID]bool)
	return true
}

func (d *drain) confirm(from remote.NodeID) {
	if d.begun {
		d.confirmed[from] = true
	}
}

// unconfirmed returns the members that have not confirmed yet and can be reached.
func (d *drain) unconfirmed(topo *singletonhook.Topology) []remote.NodeID {
	var ids []remote.NodeID
	for _, p := range topo.Members {
		if d.begun && p.ID != topo.Self && p.Reachable && !d.confirmed[p.ID] {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// askHost returns whether to ask host about the messages sent there, and whether there is something
// to wait for. sends counts the messages sent so far.
func (d *drain) askHost(host remote.NodeID, sends uint64) (ask, waits bool) {
	switch {
	case host == remote.NodeID{} || d.rounds >= maxRounds:
		return false, false
	case d.settle.To() == host:
		return false, true
	case d.rounds > 0 && d.sends == sends: // nothing was sent since it has answered
		return false, false
	}
	d.settle.Raise(host)
	d.sends = sends
	return true, true
}

func (d *drain) settled(number uint64) {
	if d.settle.Pass(number) {
		d.rounds++
	}
}
