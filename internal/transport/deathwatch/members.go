package deathwatch

import (
	"math"
	"time"

	"github.com/understudy-go/understudy/internal/node"
	"github.com/understudy-go/understudy/remote"
)

// members are the members of the cluster by address. An address has one incarnation.
type members struct {
	known bool          // this node is in a cluster, and knows its members
	as    remote.NodeID // the incarnation of this node that knew them
	all   map[string]uint64
	gone  map[string]uint64 // the last member of an address whose process is no longer a member

	// The successors of members that have been met, by address, while the member remains.
	successors map[string]successor
}

// A successor is an incarnation at the address of a member, and the number of the first ask since
// it has been known: earlier asks may be of actors of the member.
type successor struct{ incarnation, firstAsk uint64 }

// A formerMember is gone. Asks from firstAsk on are of its successor.
type formerMember struct {
	remote.NodeID
	firstAsk uint64
}

// mayHave reports whether an ask may be of an actor of p: of a numbered one, or of any at a path,
// if it has begun early enough. A node with an incarnation that does not identify its process may
// have every actor.
func (p formerMember) mayHave(uid, ask uint64) bool {
	if uid == 0 || !node.IdentifiesProcess(p.Incarnation) {
		return ask < p.firstAsk
	}
	return node.HasActor(p.Incarnation, uid)
}

// maxGone bounds the former members that are remembered. Actors of others end like those at any
// address without a member.
const maxGone = 1000

// known is false outside a cluster. ask is the number of an ask that begins now. gone are the
// members that are no longer there.
func (w *outgoing) view(known bool, as remote.NodeID, peers []remote.NodeID, ask uint64, now time.Time) (gone []formerMember) {
	before := w.members
	if !known {
		w.members.known = false
		w.forgetGone()
		return nil
	}
	w.members = members{known: true, as: as, all: make(map[string]uint64, len(peers)), gone: before.gone}
	for _, p := range peers {
		w.members.all[p.Address] = p.Incarnation
		w.lives(p)
	}
	if !before.known {
		w.begin(now)
	}
	if before.as != as {
		w.forgetGone()
		return nil // the first views of a new member do not have all members
	}
	for address, number := range before.all {
		if w.members.all[address] != number {
			p := remote.NodeID{Address: address, Incarnation: number}
			gone = append(gone, formerMember{p, before.firstAskAfter(p, w.members.all[address] != 0, ask)})
		} else if next, met := before.successors[address]; met {
			w.members.succeed(address, next)
		}
	}
	for _, p := range gone {
		w.removed(p.NodeID)
	}
	return gone
}

func (m *members) firstAskAfter(p remote.NodeID, replaced bool, ask uint64) uint64 {
	if next, met := m.successors[p.Address]; met {
		return next.firstAsk
	}
	if replaced {
		return ask
	}
	return math.MaxUint64
}

func (m *members) succeed(address string, by successor) {
	if m.successors == nil {
		m.successors = make(map[string]successor)
	}
	m.successors[address] = by
}

func (w *outgoing) begin(now time.Time) {
	for _, p := range w.byAddress {
		p.heard = now
	}
}

// removed ends the watches that the member has confirmed, and the unconfirmed watches of its
// actors. An unconfirmed watch of a path means any actor there: it ends only if no known process
// can have one.
func (w *outgoing) removed(gone remote.NodeID) {
	p := w.byAddress[gone.Address]
	next := w.members.all[gone.Address]
	if next == 0 && p != nil && p.met != gone.Incarnation {
		next = p.met
	}
	over := !node.SameProcess(gone.Incarnation, next)
	if over {
		w.rememberGone(gone)
	}
	if p == nil {
		return
	}
	w.endAll(p, func(x *outgoingWatch) bool {
		switch {
		case x.by != 0:
			return x.by == gone.Incarnation
		case x.target.UID != 0:
			return over && node.HasActor(gone.Incarnation, x.target.UID)
		}
		return next == 0
	})
}

func (w *outgoing) rememberGone(gone remote.NodeID) {
	if w.members.gone == nil {
		w.members.gone = make(map[string]uint64)
	}
	for address := range w.members.gone {
		if len(w.members.gone) < maxGone {
			break
		}
		w.forget(address)
	}
	w.members.gone[gone.Address] = gone.Incarnation
}

// The peer answers at its address, member or not. ask is the number of an ask that begins now.
func (w *outgoing) met(peer remote.NodeID, ask uint64) {
	if now := w.members.all[peer.Address]; now != 0 && now != peer.Incarnation {
		if w.members.successors[peer.Address].incarnation != peer.Incarnation {
			w.members.succeed(peer.Address, successor{peer.Incarnation, ask})
		}
	}
	if p := w.byAddress[peer.Address]; p != nil {
		p.met = peer.Incarnation
	}
	if w.members.gone[peer.Address] != peer.Incarnation {
		w.lives(peer)
	}
}

func (w *outgoing) isGone(address string, uid uint64) bool {
	return node.HasActor(w.members.gone[address], uid)
}

// A process that was gone may live under another incarnation.
func (w *outgoing) lives(p remote.NodeID) {
	if last := w.members.gone[p.Address]; node.SameProcess(last, p.Incarnation) {
		w.forget(p.Address)
	}
}

// Its process may live.
func (w *outgoing) forget(address string) {
	delete(w.members.gone, address)
	w.back = append(w.back, address)
}

// This node can no longer tell.
func (w *outgoing) forgetGone() {
	for address := range w.members.gone {
		w.forget(address)
	}
}
