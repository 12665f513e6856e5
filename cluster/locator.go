package cluster

import (
	"context"
	"iter"

	"github.com/understudy-go/understudy/internal/services"
	"github.com/understudy-go/understudy/internal/singletons/directory"
	"github.com/understudy-go/understudy/remote"

	"github.com/understudy-go/understudy/cluster/internal/membership"
)

// show returns a function that yields what of makes of the views of n.
func show[T any](n *Node, of func(v View) T) func(ctx context.Context) iter.Seq[T] {
	return func(ctx context.Context) iter.Seq[T] {
		return func(yield func(T) bool) {
			for v := range n.views.follow(ctx) {
				if !yield(of(v)) {
					return
				}
			}
		}
	}
}

func (c *Config) topologyOf(v View) directory.Topology {
	t := topologyOf(v)
	t.Margin = c.margin()
	for i := range t.Gone {
		t.Gone[i].Since = c.inSystemTime(t.Gone[i].Since)
	}
	return t
}

// topologyOf returns v as singletons see it. It omits exiting members: they run no singleton any
// more and will not start one, so nobody needs to ask them.
func topologyOf(v View) directory.Topology {
	t := directory.Topology{
		Self: v.Self.ID(),
		Down: v.Self.Status >= Down,
	}
	for _, m := range membership.Candidates(v.in) {
		if m.Status == membership.Exiting {
			continue
		}
		t.Members = append(t.Members, directory.Peer{
			ID:        m.ID(),
			Name:      m.Name,
			Up:        m.Status == membership.Up,
			Leaves:    m.Status == membership.Leaving,
			UpNumber:  m.UpNumber,
			Reachable: v.in.Reachable(m.ID()),
			Roles:     m.Roles,
			Meta:      m.Meta,
		})
	}
	for _, r := range membership.UncleanRemovals(v.in) {
		t.Gone = append(t.Gone, directory.Gone{
			Peer:  directory.Peer{ID: r.ID, Name: r.Name, UpNumber: r.UpNumber, Roles: r.Roles},
			Since: r.Since,
		})
	}
	return t
}

// peersOf returns v as receptionists see it. It omits members that are down: they stop their
// actors, so nobody can use the services registered there.
func peersOf(v View) services.Topology {
	t := services.Topology{Self: v.Self.ID()}
	for _, m := range v.Members {
		if m.Status >= Down || m.ID() == v.Self.ID() {
			continue
		}
		t.Peers = append(t.Peers, services.Peer{
			ID:        m.ID(),
			Reachable: v.Reachable(m),
		})
	}
	return t
}

// followMembers passes the members of each view to the endpoint, so that watchers and asks of
// actors learn when a node is gone.
func (n *Node) followMembers() {
	n.views.listen(func() {
		v := n.View()
		n.endpoint.Members(v.Self.ID(), livingPeers(v))
	})
}

// livingPeers returns the members that are not down, or nil if this node is not a member.
func livingPeers(v View) []remote.NodeID {
	if v.Self.Status == 0 || v.Self.Status >= Down {
		return nil
	}
	var peers []remote.NodeID
	for _, m := range v.Members {
		if m.Status < Down {
			peers = append(peers, m.ID())
		}
	}
	return peers
}
