package allot

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/understudy-go/understudy/cluster/internal/home"
	"github.com/understudy-go/understudy/internal/guard"
)

// A load is how many shards of a type a node has.
type load struct {
	node   string
	shards int
	pinned int // of these, how many may not move
}

// excess returns how many shards each node should give away so that the numbers differ by at most
// one, the most loaded first, and no more than limit in all. It returns nothing once the numbers
// differ by at most one, apart from shards that may not move: balancing ends.
func excess(all []load, limit int) []load {
	all = slices.Clone(all)
	var gives []load
	for range limit {
		most, least := -1, 0
		for i, l := range all {
			if l.shards > l.pinned && (most < 0 || l.shards > all[most].shards) {
				most = i
			}
			if l.shards < all[least].shards {
				least = i
			}
		}
		if most < 0 || all[most].shards-all[least].shards < 2 {
			break
		}
		all[most].shards--
		all[least].shards++
		at := slices.IndexFunc(gives, func(l load) bool { return l.node == all[most].node })
		if at < 0 {
			gives = append(gives, load{node: all[most].node})
			at = len(gives) - 1
		}
		gives[at].shards++
	}
	return gives
}

// A balancer says when shards are balanced.
type balancer struct {
	at  time.Time // the next time; zero before there is a shard
	why string    // why they were not balanced the last time; "" if they were, or needed not

	news bool // a node has said what it hosts since shards without entities were spread

	members map[home.NodeID]bool // of the last view; nil before the first one
	changed time.Time            // when they last changed, or were first seen
	change  string               // what happened then
	left    time.Time            // when one of them has last left; zero for never
}

// calmRounds is for how many rounds of balancing no shard is moved after the members have changed.
// In a rolling restart another node goes soon, and its shards would move once more.
const calmRounds = 3

func (cfg Config) calm() time.Duration { return calmRounds * cfg.RebalanceEvery }

// viewed notes whether the members have changed. A new coordinator cannot know when they last did,
// so for it they change with its first view; first says that there was no other one before.
func (b *balancer) viewed(nodes []home.Node, first bool, now time.Time) {
	before := b.members
	b.members = make(map[home.NodeID]bool, len(nodes))
	change := ""
	for _, n := range nodes {
		id := home.IDOf(n)
		b.members[id] = true
		if !before[id] {
			change = n.Name + " has joined"
		}
	}
	for id := range before {
		if !b.members[id] {
			change, b.left = cmp.Or(change, "a node has left"), now
		}
	}
	if before == nil {
		change = "the coordinator has begun"
		if !first && len(nodes) > 1 {
			b.left = now // the node of the one before has
		}
	}
	if change != "" {
		b.change, b.changed = change, now
	}
}

// unsettled returns which change of the members was less than the calm time ago, or "".
func (b *balancer) unsettled(now time.Time, calm time.Duration) string {
	if b.changed.IsZero() || now.Sub(b.changed) >= calm {
		return ""
	}
	return fmt.Sprintf("%s less than %v ago", b.change, calm)
}

// rebalance moves shards from nodes with many to nodes with few, from time to time and few at once.
func rebalance(s *shards) {
	now := s.nodes.Now()
	switch {
	case len(s.kinds) == 0:
		return
	case s.balance.at.IsZero():
		s.balance.at = now.Add(s.cfg.RebalanceEvery)
		return
	case now.Before(s.balance.at):
		return
	}
	s.balance.at = now.Add(s.cfg.RebalanceEvery)
	if s.balance.why = unquiet(s); s.balance.why != "" {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(s.kinds)) {
		k := s.kinds[name]
		s.even(k, s.hosts(k), s.movable(k), max(1, k.Shards/maxShare))
	}
}

// spread moves shards without entities, all at once: nobody waits for them. In a cluster that
// starts, the first node has all shards before the others come. It looks when a node has said what
// it hosts, as soon as nothing changes and no shard is moving. But after a node has left, it waits
// as for other shards, because that may be a rolling restart.
func spread(s *shards) {
	b, now := &s.balance, s.nodes.Now()
	if !b.news || changing(s) != "" || !b.left.IsZero() && now.Sub(b.left) < s.cfg.calm() {
		return
	}
	b.news = false
	for _, name := range slices.Sorted(maps.Keys(s.kinds)) {
		k := s.kinds[name]
		if k.inTransit() {
			b.news = true
		} else if vacant := s.vacant(k); len(vacant) > 0 {
			s.even(k, s.hosts(k), vacant, len(vacant))
		}
	}
}

// unquiet returns why no shard with entities is moved now, or "".
func unquiet(s *shards) string {
	if why := changing(s); why != "" {
		return why
	}
	if why := s.balance.unsettled(s.nodes.Now(), s.cfg.calm()); why != "" {
		return why
	}
	for _, name := range slices.Sorted(maps.Keys(s.kinds)) {
		if s.kinds[name].inTransit() {
			return fmt.Sprintf("a shard of %s is moving", name)
		}
	}
	return ""
}

// changing returns which change of the members is under way, or "".
func changing(s *shards) string {
	version := ""
	for i, n := range s.nodes.View().Nodes {
		switch {
		case !n.Up:
			return fmt.Sprintf("%s is not up", n.Name)
		case !n.Reachable:
			return fmt.Sprintf("%s is unreachable", n.Name)
		case n.Draining:
			return fmt.Sprintf("%s is being drained", n.Name)
		case i > 0 && n.AppVersion != version:
			return fmt.Sprintf("a rolling update is under way: %s has version %q, another node %q", n.Name, n.AppVersion, version)
		}
		version = n.AppVersion
	}
	return ""
}

// maxShare is the part of a type's shards that may move at once.
const maxShare = 10

// even moves some of the given shards of a type, up to limit, so that its hosts have about the same
// number.
func (s *shards) even(k *kind, hosts []home.Node, movable []*shard, limit int) {
	if own, ok := s.strategyOf(k); ok {
		var moves []*shard
		var none error
		err := guard.Apart(func() { moves, none = own.improve(movable, hosts, s.nodes.View(), limit) })
		err = cmp.Or(err, none)
		s.strategyWorks(k, own, err)
		if err == nil {
			for _, sh := range moves {
				s.move(sh, balanced)
			}
			return
		}
	}
	loads, free := k.loads(), map[string]int{}
	for _, sh := range movable {
		free[sh.Node]++
	}
	var all []load
	for _, n := range hosts {
		has := loads[home.IDOf(n)]
		all = append(all, load{node: n.Name, shards: has, pinned: has - free[n.Name]})
	}
	for _, from := range excess(all, limit) {
		there := slices.DeleteFunc(slices.Clone(movable), func(sh *shard) bool { return sh.Node != from.node })
		for _, sh := range there[:min(from.shards, len(there))] {
			s.move(sh, balanced)
		}
	}
}
