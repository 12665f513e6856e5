package membership

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A node whose list of seeds does not begin with itself waits for another node to found a
// cluster. If no node's list begins with itself, as with two nodes that name each other, there
// is no first seed. So each node asks the others for their lists.
//
// Nodes are a group if they name each other, directly or through others, and name no other
// node. A node has one list, so it is in at most one group, and all nodes of a group determine
// the same group.
//
// The lowest address of a group founds a cluster, once each of the others has granted it that.
// A node grants if it is in no cluster, has determined the same group, and has not just told
// another founder that there is no cluster.

// A founder is the role in which a node that asks to join would found a cluster; 0 if it would
// not.
type founder uint8

const (
	asFirst  founder = iota + 1 // as the first of its seeds, or of the addresses that discovery finds
	asLowest                    // as the lowest address of its group
)

// maxGroup limits the number of nodes that are asked for their lists.
const maxGroup = 100

// grantHolds is how long a node that has granted its group to found a cluster tells no other
// founder that there is no cluster, and the reverse. After that no node uses the answer any
// more.
const grantHolds = 2 * answerHolds

// A seedList is the last answer of another node that looks for a cluster.
type seedList struct {
	names   []string // the nodes that it names; empty if it can be in no group
	at      time.Time
	granted bool
}

type seedGroup struct {
	*core
	contacts *contacts

	lists   map[string]seedList
	before  []string  // the names of this node's list when it last knew all of them
	changed time.Time // when those names last changed
	granted time.Time // when this node has last granted its group to found a cluster
	denied  time.Time // when it has last told a first seed that there is no cluster
}

// namedFrom returns an address and all addresses that lists lead to from there. It returns nil
// if one of those lists is not known.
func namedFrom(lists map[string][]string, address string) []string {
	all := []string{address}
	for i := 0; i < len(all); i++ {
		names := lists[all[i]]
		if len(names) == 0 || len(all) > maxGroup {
			return nil
		}
		for _, name := range names {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

// names returns the other nodes of this node's list, by their advertised addresses. It is empty
// until all have answered. When an advertised address changes, it is empty for grantHolds, so
// that other nodes forget the previous list first.
func (g *seedGroup) names() []string {
	if !g.contacts.follows() {
		return nil
	}
	var names []string
	for _, seed := range g.set.Seeds {
		name, known := g.contacts.names[seed]
		switch {
		case g.contacts.isSelf(seed), g.contacts.gone[seed]:
		case !known:
			return nil
		default:
			names = append(names, name)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if !slices.Equal(names, g.before) {
		if g.before != nil {
			g.changed = g.now
		}
		g.before = names
	}
	if g.recent(g.changed, grantHolds) {
		return nil
	}
	return names
}

func (g *seedGroup) listed(from ID, a joinAnswer) {
	if !g.contacts.follows() {
		return
	}
	g.lists[from.Address] = seedList{names: a.Names, at: g.now, granted: a.Grants}
	for _, name := range a.Names {
		if len(g.contacts.addresses) < maxGroup {
			g.contacts.ask(name)
		}
	}
}

// group returns the group of this node, the lowest address first. It is nil if there is no
// group yet.
func (g *seedGroup) group() []string {
	lists := map[string][]string{g.self.Address: g.names()}
	if g.contacts.alone() {
		return []string{g.self.Address}
	}
	for address, l := range g.lists {
		if g.recent(l.at, answerHolds) {
			lists[address] = l.names
		}
	}
	all := namedFrom(lists, g.self.Address)
	for _, other := range all {
		if !slices.Contains(namedFrom(lists, other), g.self.Address) {
			return nil
		}
	}
	slices.Sort(all)
	return all
}

func (g *seedGroup) leads(group []string) bool { return len(group) > 0 && group[0] == g.self.Address }

func (g *seedGroup) denyTo(from ID, r joinRequest) joinAnswer {
	group := g.group()
	a := joinAnswer{Verdict: notMember, Names: g.names()}
	switch {
	case r.FoundsAs == asLowest:
		if len(group) > 0 && group[0] == from.Address && !g.recent(g.denied, grantHolds) {
			a.Grants, g.granted = true, g.now
		}
	case r.FoundsAs != asFirst:
	case len(group) > 0 || g.recent(g.granted, grantHolds):
		return joinAnswer{Verdict: busy} // this node's group may be founding one
	default:
		g.denied = g.now
	}
	return a
}

// ungrouped returns why this node, a follower, does not found a cluster with its group. It is
// empty if it does.
func (g *seedGroup) ungrouped() obstacle {
	group := g.group()
	switch {
	case len(group) == 0:
		return g.groupless()
	case !g.leads(group):
		return obstacle{why: fmt.Sprintf("%s name each other as seeds, and only the lowest address, %s, founds a cluster", strings.Join(group, ", "), group[0])}
	case g.recent(g.denied, grantHolds):
		return obstacle{why: "a node that is not named may have founded a cluster just now"}
	}
	for _, address := range group[1:] {
		if l := g.lists[address]; !l.granted || !g.recent(l.at, answerHolds) {
			return obstacle{why: address + " has not agreed yet that this node, the lowest of those that name each other as seeds, founds a cluster"}
		}
	}
	return obstacle{}
}

func (g *seedGroup) groupless() obstacle {
	why := "no seed is a member, and only the first one founds a cluster: " + g.set.Seeds[0]
	if g.contacts.gone[g.set.Seeds[0]] {
		why = "no seed is a member, and the first one is gone: the others found a cluster when all of them have answered and name each other"
	}
	if silent := g.contacts.absent(); len(silent) > 0 {
		why += "; there is no answer of " + strings.Join(silent, ", ")
	}
	return obstacle{why, g.contacts.advice()}
}
