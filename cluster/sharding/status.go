package sharding

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/understudy-go/understudy/cluster/sharding/internal/allot"
	"github.com/understudy-go/understudy/internal/status"
	"github.com/understudy-go/understudy/remote"
)

// A typeStatus is a type of entities as one node knows it. The JSON names of its fields are a
// stable interface; docs/status.md describes them.
type typeStatus struct {
	Name    string `json:"name"`
	Role    string `json:"role"` // which nodes host it; "" for all
	Shards  int    `json:"shards"`
	Hosts   bool   `json:"hosts"`   // this node takes shards of it
	Refused string `json:"refused"` // why this node takes no part, or ""
	Lease   string `json:"lease"`   // leaseHeld, or why this node does not have it; "" without [WithLease]

	Homes    []homeStatus `json:"homes"`    // the nodes that have shards, sorted by name
	Homeless int          `json:"homeless"` // shards of which this node knows no home

	Here     int    `json:"here"`     // shards that run on this node
	Leaving  int    `json:"leaving"`  // those of them that are about to leave
	Awake    int    `json:"awake"`    // entities on this node
	Held     int    `json:"held"`     // messages told on this node that wait for a shard
	Returned uint64 `json:"returned"` // messages of other nodes that have gone back, because their shard was elsewhere
	Failures uint64 `json:"failures"` // of entities on this node

	Dropped map[string]uint64 `json:"dropped"` // messages that have become dead letters here, by reason
}

// leaseHeld is typeStatus.Lease while the node has its lease.
const leaseHeld = "held"

// A homeStatus is a node that has shards of a type.
type homeStatus struct {
	ID        string `json:"id"`   // of the member, host:port#incarnation
	Name      string `json:"name"` // of the member; "" if it is no member any more
	Reachable bool   `json:"reachable"`
	Shards    int    `json:"shards"`
}

// statuses returns the types of this node, sorted by name. It asks no other node, and does not
// block.
func (h *hub) statuses() []typeStatus {
	all := []typeStatus{}
	h.each(func(r *region) { all = append(all, r.status()) })
	slices.SortFunc(all, func(a, b typeStatus) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// status returns what status pages and metrics show of the type.
func (r *region) status() typeStatus {
	s := r.stats()
	shown := typeStatus{
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
func (h *hub) homesOf(typ string) []homeStatus {
	if h.outside == nil {
		return []homeStatus{}
	}
	return h.outside.homesOf(typ)
}

func (c *clustered) homesOf(typ string) []homeStatus {
	v := c.post.View()
	c.mu.Lock()
	defer c.mu.Unlock()
	shards := map[remote.NodeID]int{}
	e, _ := c.table.Of(typ)
	for _, h := range e.Homes {
		if h.Node != (remote.NodeID{}) {
			shards[h.Node]++
		}
	}
	all := []homeStatus{}
	for id, n := range shards {
		home := homeStatus{ID: id.String(), Shards: n}
		for _, m := range v.Members {
			if m.ID() == id {
				home.Name, home.Reachable = m.Name, v.Reachable(m)
			}
		}
		all = append(all, home)
	}
	slices.SortFunc(all, func(a, b homeStatus) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return all
}

// section is what the page of a node shows of its types. Only while shards run nowhere it asks the
// coordinator why.
func (h *hub) section() status.Section {
	look := &status.Coordinator[[]allot.Homeless]{Ask: func(ctx context.Context) ([]allot.Homeless, error) { return h.outside.homeless(ctx) }}
	return status.Section{
		Level: status.Homes,
		Refresh: func(ctx context.Context) {
			if h.outside != nil && slices.ContainsFunc(h.statuses(), typeStatus.lacksHomes) {
				look.Refresh(ctx)
			}
		},
		Read: func() (map[string]any, []status.Problem) {
			types, homeless, failure := h.statuses(), []allot.Homeless{}, ""
			if slices.ContainsFunc(types, typeStatus.lacksHomes) {
				var answer *[]allot.Homeless
				if answer, failure = look.Read(); answer != nil {
					homeless = append(homeless, *answer...)
				}
			}
			return map[string]any{"entityTypes": types, "homeless": homeless, "homelessFailure": failure}, problemsOf(types, homeless, failure)
		},
	}
}

func (t typeStatus) lacksHomes() bool { return t.Homeless > 0 && t.Refused == "" }

func problemsOf(types []typeStatus, homeless []allot.Homeless, failure string) (found []status.Problem) {
	add := func(about, format string, args ...any) {
		found = append(found, status.Problem{Kind: "shards", About: about, Text: fmt.Sprintf(format, args...)})
	}
	for _, t := range types {
		if t.Refused != "" {
			add(t.Name, "This node takes no part in the type %s: %s.", t.Name, t.Refused)
		}
		if t.Lease != "" && t.Lease != leaseHeld {
			add(t.Name, "This node hosts nothing of the type %s, because it has no lease: %s.", t.Name, t.Lease)
		}
	}
	if failure != "" {
		add("", "Shards run nowhere, and their coordinator does not answer: %s.", failure)
	}
	for _, h := range homeless {
		add(h.Type, "%s: %s.", runNowhere(h), h.Why)
	}
	return found
}

const mostNumbers = 5

func runNowhere(h allot.Homeless) string {
	if len(h.Shards) == 1 {
		return fmt.Sprintf("Shard %d of %s runs nowhere", h.Shards[0], h.Type)
	}
	var some []string
	for _, n := range h.Shards[:min(len(h.Shards), mostNumbers)] {
		some = append(some, strconv.Itoa(n))
	}
	if len(h.Shards) > mostNumbers {
		some = append(some, "…")
	}
	return fmt.Sprintf("%d shards of %s run nowhere (%s)", len(h.Shards), h.Type, strings.Join(some, ", "))
}
