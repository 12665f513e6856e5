package singleton

import (
	"cmp"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/history"
	"github.com/understudy-go/understudy/internal/node"
	"github.com/understudy-go/understudy/internal/singletonhook"
	"github.com/understudy-go/understudy/singleton/internal/handover"
)

// A chronicle puts what happens to one singleton into the history of the node.
type chronicle struct {
	ring *history.Ring
	name string
	host singletonhook.Peer // the last one that was known; zero if none was

	former singletonhook.Peer // the host before
}

func chronicleOf(s *actor.System, name string) chronicle {
	return chronicle{ring: extension.Ensure(s, history.New), name: name}
}

func (c *chronicle) add(kind, reason string) { c.ring.Add(time.Now(), kind, c.name, reason) }

// hostIs adds that the singleton has another host than before. The first host that a node learns of
// is no move. A node that is down does not know what the cluster does.
func (c *chronicle) hostIs(host singletonhook.Peer, topo *singletonhook.Topology, placement, why string) {
	before := c.host
	switch {
	case topo.Down:
		c.host = singletonhook.Peer{}
		return
	case before.ID == host.ID:
		return
	case before.ID == node.ID{}:
	case host.ID == node.ID{}:
		c.add("singleton has no host", cmp.Or(why, "no member can host it"))
	default:
		c.add("singleton moved", fmt.Sprintf("from %s to %s: %s", nameOfPeer(before), nameOfPeer(host), whyMoved(topo, before, host, placement)))
	}
	c.former, c.host = before, host
}

func whyMoved(topo *singletonhook.Topology, before, host singletonhook.Peer, placement string) string {
	now, member := topo.Member(before.ID)
	switch {
	case !member && topo.Lost(before.ID):
		return nameOfPeer(before) + " was removed without a sign that it has stopped"
	case !member:
		return nameOfPeer(before) + " has left or was replaced"
	case !now.Up:
		return nameOfPeer(before) + " is leaving or down"
	}
	return fmt.Sprintf("%s is now %s", nameOfPeer(host), placement)
}

func (c *chronicle) started(topo *singletonhook.Topology, t handover.Takeover, restarts int) {
	reason := "no instance that this node knows of ran before"
	switch {
	case t.Reason != "":
		reason = string(t.Reason)
		if t.From != (node.ID{}) && t.From != topo.Self {
			reason += " from " + c.nameIn(topo, t.From)
		}
	case restarts > 0:
		reason = "restart after the last instance ended here"
	}
	c.add("singleton started", reason)
}

// ended adds that an instance has ended on this node. phase is the phase of the manager before it
// learned of the end.
func (c *chronicle) ended(e handover.InstanceEnded, err error, phase handover.Phase, topo *singletonhook.Topology) {
	switch {
	case e.Finished:
		c.add("singleton finished", "")
	case e.Fenced:
		c.add("singleton fenced", fmt.Sprintf("a journal has a later term, %d: another instance has written", e.FencedBy))
	case e.LeaseLost:
		c.add("singleton stopped", "its lease was lost")
	case err != nil:
		c.add("singleton failed", guard.Text(err))
	case phase == handover.HandingOver:
		c.add("singleton stopped", "hand-over to "+nameOfPeer(c.host))
	case topo.Down:
		c.add("singleton stopped", "this node is down")
	case phase == handover.Stopping:
		c.add("singleton stopped", "its lease was lost, or another instance has a later term")
	default:
		c.add("singleton stopped", "it has ended by itself, and is restarted")
	}
}

// why may be nil.
func (c *chronicle) lostLease(why error) {
	reason := ""
	if why != nil {
		reason = guard.Text(why)
	}
	c.add("singleton lost its lease", reason)
}

func (c *chronicle) stuck(topo *singletonhook.Topology, host node.ID) {
	c.add("singleton stuck", "its instance on "+c.nameIn(topo, host)+" does not end: its handler does not return")
}

func (c *chronicle) nameIn(topo *singletonhook.Topology, id node.ID) string {
	p, member := topo.Member(id)
	if !member && c.former.ID == id {
		p = c.former
	}
	for _, g := range topo.Gone {
		if g.ID == id {
			p = g.Peer
		}
	}
	p.ID = id
	return nameOfPeer(p)
}

func nameOfPeer(p singletonhook.Peer) string { return cmp.Or(p.Name, p.ID.Address, "no member") }
