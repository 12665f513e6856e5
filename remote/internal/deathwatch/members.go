package deathwatch

import "time"

// members are those of the cluster, by address. One address has one incarnation.
type members struct {
	known bool // this node is in a cluster, and knows of it
	as    Peer // whom they were known to
	all   map[string]uint64
}

// view takes the news who is a member, as an incarnation of this node knows it, or that it
// is in no cluster. It returns who is gone.
func (w *watching) view(known bool, as Peer, peers []Peer, now time.Time) (gone []Peer) {
	before := w.members
	if !known {
		w.members.known = false
		return nil
	}
	w.members = members{known: true, as: as, all: make(map[string]uint64, len(peers))}
	for _, p := range peers {
		w.members.all[p.Address] = p.Incarnation
	}
	if !before.known {
		w.begin(now)
	}
	if before.as != as {
		return nil // the first views of a new member do not know everybody
	}
	for address, incarnation := range before.all {
		if w.members.all[address] != incarnation {
			gone = append(gone, Peer{Address: address, Incarnation: incarnation})
		}
	}
	for _, p := range gone {
		w.removed(p)
	}
	return gone
}

// begin lets silence count from now.
func (w *watching) begin(now time.Time) {
	for _, p := range w.places {
		p.heard = now
	}
}

// removed ends the watches that a former member has confirmed.
func (w *watching) removed(gone Peer) {
	if p := w.places[gone.Address]; p != nil {
		w.endAll(p, func(x *watched) bool { return x.by == gone.Incarnation })
	}
}
