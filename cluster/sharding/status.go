package sharding

import (
	"cmp"
	"slices"

	"github.com/understudy-go/understudy/internal/node"
	"github.com/understudy-go/understudy/internal/shardstatus"
)

// statuses is a [shardstatus.Source].
func (h *hub) statuses() []shardstatus.Type {
	all := []shardstatus.Type{}
	h.each(func(r *region) { all = append(all, r.status()) })
	slices.SortFunc(all, func(a, b shardstatus.Type) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// status returns what status pages and metrics show of the type.
func (r *region) status() shardstatus.Type {
	s := r.stats()
	shown := shardstatus.Type{
		Name: r.name, Role: r.set.role, Shards: len(s.Shards), Hosts: r.set.hosts, Homes: r.hub.homesOf(r.name),
		Awake: s.Awake, Held: s.Held, Dropped: droppedByReason(s.Dropped), Returned: s.Returned, Failures: s.Failures,
	}
	if why := r.refused.Load(); why != nil {
		shown.Refused = (*why).Error()
	}
	if r.set.leased() {
		shown.Lease = r.tenure.state()
	}
	for _, of := range s.Shards {
		if of.Here {
			shown.Here++
		}
		if of.Moving {
			shown.Leaving++
		}
		if of.Home == "" && !of.Here {
			shown.Homeless++
		}
	}
	return shown
}

// homesOf returns the nodes that have shards of a type by the table, sorted by name.
func (h *hub) homesOf(typ string) []shardstatus.Home {
	if h.outside == nil {
		return []shardstatus.Home{}
	}
	return h.outside.homesOf(typ)
}

func (c *clustered) homesOf(typ string) []shardstatus.Home {
	v := c.post.View()
	c.mu.Lock()
	defer c.mu.Unlock()
	shards := map[node.ID]int{}
	e, _ := c.table.Of(typ)
	for _, h := range e.Homes {
		if h.Node != (node.ID{}) {
			shards[h.Node]++
		}
	}
	all := []shardstatus.Home{}
	for id, n := range shards {
		home := shardstatus.Home{ID: id.String(), Shards: n}
		for _, m := range v.Members {
			if m.ID() == id {
				home.Name, home.Reachable = m.Name, v.Reachable(m)
			}
		}
		all = append(all, home)
	}
	slices.SortFunc(all, func(a, b shardstatus.Home) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return all
}
