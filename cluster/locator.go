package cluster

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/understudy-go/understudy/singleton"
)

// locator shows a node to singletons.
type locator Node

var _ singleton.Locator = (*locator)(nil)

// Topologies implements [singleton.Locator].
func (l *locator) Topologies(ctx context.Context) iter.Seq[singleton.Topology] {
	return func(yield func(singleton.Topology) bool) {
		for v := range l.views.follow(ctx) {
			t := v.topology()
			t.Margin = l.cfg.margin()
			for i := range t.Gone {
				t.Gone[i].Since = l.cfg.inSystemTime(t.Gone[i].Since)
			}
			if !yield(t) {
				return
			}
		}
	}
}

// Offer implements [singleton.Locator].
func (l *locator) Offer(offer string) {
	l.offers.change(func(all []string) []string { return withOffer(all, offer) })
	l.inbox.post(0, offered{offer})
}

// Withdraw implements [singleton.Locator].
func (l *locator) Withdraw(name string) {
	l.offers.change(func(all []string) []string { return withoutOffer(all, name) })
	l.inbox.post(0, withdrawn{name})
}

// Record implements [singleton.Locator].
func (l *locator) Record(name string, r singleton.Record) { l.inbox.post(0, recorded{name, r}) }

// topology is v as singletons see it. Who is exiting runs none any more and never will, so
// nobody needs to ask it: it is left out, like those that were removed in good order.
func (v View) topology() singleton.Topology {
	t := singleton.Topology{
		Self:    peerID(v.Self.ID()),
		Down:    v.Self.Status >= Down,
		Records: v.records,
	}
	for _, m := range v.order {
		if m.Status == Exiting {
			continue
		}
		t.Members = append(t.Members, singleton.Peer{
			ID:        peerID(m.ID()),
			Name:      m.Name,
			Up:        m.Status == Up,
			UpNumber:  m.UpNumber,
			Reachable: v.Reachable(m),
			Roles:     m.Roles,
			Meta:      m.Meta,
			Offers:    v.rows[m.ID()].Offers,
		})
	}
	for id, since := range v.gone {
		dead := v.tombs[id]
		t.Gone = append(t.Gone, singleton.Gone{
			Peer:  singleton.Peer{ID: peerID(id), Name: dead.Name, UpNumber: dead.UpNumber, Roles: dead.Roles, Offers: dead.Offers},
			Since: since,
		})
	}
	slices.SortFunc(t.Gone, func(a, b singleton.Gone) int {
		return cmp.Or(cmp.Compare(a.ID.Address, b.ID.Address), cmp.Compare(a.ID.Incarnation, b.ID.Incarnation))
	})
	return t
}

func peerID(id ID) singleton.PeerID {
	return singleton.PeerID{Address: id.Address, Incarnation: id.Incarnation}
}

// names is a set of names.
type names struct {
	mu  sync.Mutex // guards all
	all []string   // sorted
}

func (n *names) change(f func(all []string) []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = f(n.all)
}

// withOffer returns all with an offer in place of one of the same name.
func withOffer(all []string, offer string) []string {
	return union(withoutOffer(all, singleton.OfferName(offer)), []string{offer})
}

func withoutOffer(all []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(o string) bool { return singleton.OfferName(o) == name })
}

func (n *names) sorted() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.all
}
