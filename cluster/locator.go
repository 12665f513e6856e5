package cluster

import (
	"context"
	"iter"

	"github.com/understudy-go/understudy/cluster/membership"
	"github.com/understudy-go/understudy/internal/singletonhook"
)

// locator is a node as singletons see it.
type locator Node

var _ singletonhook.Locator = (*locator)(nil)

func (l *locator) Topologies(ctx context.Context) iter.Seq[singletonhook.Topology] {
	return func(yield func(singletonhook.Topology) bool) {
		for v := range l.views.follow(ctx) {
			t := topologyOf(v)
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

// topologyOf returns v as singletons see it. It omits exiting members: they run no singleton any
// more and will not start one, so nobody needs to ask them.
func topologyOf(v View) singletonhook.Topology {
	t := singletonhook.Topology{
		Self: v.Self.ID(),
		Down: v.Self.Status >= Down,
	}
	for _, m := range membership.Candidates(v) {
		if m.Status == Exiting {
			continue
		}
		t.Members = append(t.Members, singletonhook.Peer{
			ID:        m.ID(),
			Name:      m.Name,
			Up:        m.Status == Up,
			UpNumber:  m.UpNumber,
			Reachable: v.Reachable(m),
			Roles:     m.Roles,
			Meta:      m.Meta,
		})
	}
	for _, r := range membership.UncleanRemovals(v) {
		t.Gone = append(t.Gone, singletonhook.Gone{
			Peer:  singletonhook.Peer{ID: r.ID, Name: r.Name, UpNumber: r.UpNumber, Roles: r.Roles},
			Since: r.Since,
		})
	}
	return t
}
