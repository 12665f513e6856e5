package singleton

import (
	"cmp"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/history"
	"github.com/understudy-go/understudy/internal/singletons/directory"
	"github.com/understudy-go/understudy/remote"
	"github.com/understudy-go/understudy/singleton/internal/handover"
)

// A historyWriter puts what happens to one singleton into the history of the node.
type historyWriter struct {
	ring *history.Ring
	name string
	host directory.Peer // the last one that was known; zero if none was

	former directory.Peer // the host before
}

func newHistoryWriter(s *actor.System, name string) historyWriter {
	return historyWriter{ring: extension.Ensure(s, history.New), name: name}
}

func (h *historyWriter) add(kind, reason string) { h.ring.Add(time.Now(), kind, h.name, reason) }

// hostIs adds that the singleton has another host than before. The first host that a node learns of
// is no move. A node that is down does not know what the cluster does.
func (h *historyWriter) hostIs(host directory.Peer, topo *directory.Topology, placement, why string) {
	before := h.host
	switch {
	case topo.Down:
		h.host = directory.Peer{}
		return
	case before.ID == host.ID:
		return
	case before.ID == remote.NodeID{}:
	case host.ID == remote.NodeID{}:
		h.add("singleton has no host", cmp.Or(why, "no member can host it"))
	default:
		h.add("singleton moved", fmt.Sprintf("from %s to %s: %s", nameOfPeer(before), nameOfPeer(host), whyMoved(topo, before, host, placement)))
	}
	h.former, h.host = before, host
}

func whyMoved(topo *directory.Topology, before, host directory.Peer, placement string) string {
	now, member := topo.Member(before.ID)
	switch {
	case !member && topo.Lost(before.ID):
		return nameOfPeer(before) + " was removed without a sign that it has stopped"
	case !member:
		return nameOfPeer(before) + " was removed or replaced"
	case !now.Up:
		return nameOfPeer(before) + " is leaving or down"
	}
	return fmt.Sprintf("%s is now %s", nameOfPeer(host), placement)
}

func (h *historyWriter) started(topo *directory.Topology, t handover.Takeover, restarts int) {
	reason := "no instance that this node knows of ran before"
	switch {
	case t.Reason != "":
		reason = string(t.Reason)
		if t.From != (remote.NodeID{}) && t.From != topo.Self {
			reason += " from " + h.nameIn(topo, t.From)
		}
	case restarts > 0:
		reason = "restart after the last instance ended here"
	}
	h.add("singleton started", reason)
}

// ended adds that an instance has ended on this node. phase is the phase of the manager before it
// learned of the end.
func (h *historyWriter) ended(e handover.InstanceEnded, err error, phase handover.Phase, topo *directory.Topology) {
	switch {
	case e.Finished:
		h.add("singleton finished", "")
	case e.Forgotten:
		h.add("singleton rests", "its persistence id was forgotten")
	case e.Fenced:
		h.add("singleton fenced", fmt.Sprintf("a journal has a later term, %d: another instance has written", e.FencedBy))
	case e.LeaseLost:
		h.add("singleton stopped", "its lease was lost")
	case err != nil:
		h.add("singleton failed", guard.Text(err))
	case phase == handover.HandingOver:
		h.add("singleton stopped", "hand-over to "+nameOfPeer(h.host))
	case topo.Down:
		h.add("singleton stopped", "this node is down")
	case phase == handover.Stopping:
		h.add("singleton stopped", "its lease was lost, or another instance has a later term")
	default:
		h.add("singleton stopped", "it has ended by itself, and is restarted")
	}
}

// why may be nil.
func (h *historyWriter) lostLease(why error) {
	reason := ""
	if why != nil {
		reason = guard.Text(why)
	}
	h.add("singleton lost its lease", reason)
}

func (h *historyWriter) stuck(topo *directory.Topology, host remote.NodeID) {
	h.add("singleton stuck", "its instance on "+h.nameIn(topo, host)+" does not end: its handler does not return")
}

func (h *historyWriter) nameIn(topo *directory.Topology, id remote.NodeID) string {
	p, member := topo.Member(id)
	if !member && h.former.ID == id {
		p = h.former
	}
	for _, g := range topo.Gone {
		if g.ID == id {
			p = g.Peer
		}
	}
	p.ID = id
	return nameOfPeer(p)
}

func nameOfPeer(p directory.Peer) string { return cmp.Or(p.Name, p.ID.Address, "no member") }
