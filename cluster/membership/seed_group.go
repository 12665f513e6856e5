package membership

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A node whose list of seeds does not begin with itself waits for another to found a cluster.
// Where all nodes do, as two that name each other, there is no first seed. So each asks the
// others for their lists. Nodes are a group when they are named by each other, directly or by
// way of others, and name nobody else: as a node has one list it is in one group at most, and
// all of a group come to the same. The lowest address of a group founds a cluster, once each of
// the others has granted that: it is in none, has come to the same group, and has not just told
// somebody else who founds clusters that there is none.

// A founder says as what a node that asks to join founds a cluster, when it is told that there is
// none; 0 if it does not.
type founder uint8

const (
	asFirst  founder = iota + 1 // of its seeds, or of what discovery finds
	asLowest                    // of its group
)

// maxGroup bounds the nodes that are asked for their lists.
const maxGroup = 100

// grantHolds is how long nobody else is told that there is no cluster where a group may have
// founded one, and the other way round. Then the answer does not count any more, anywhere.
const grantHolds = 2 * answerHolds

// A seedList is what another node that seeks a cluster has said last.
type seedList struct {
	names   []string // whom it names; empty if it is in no group
	at      time.Time
	granted bool
}

// A seedGroup is what is known of the lists of nodes that look for a cluster.
type seedGroup struct {
	*core
	contacts *contacts

	lists   map[string]seedList
	before  []string  // whom this node named when it last knew all of them
	changed time.Time // when that was no longer what it had been
	granted time.Time // when this node has last granted its group to found a cluster
	denied  time.Time // when it has last told a first one that there is none
}

// namedFrom returns an address, and all whom lists lead to from there; nil when one of those
// lists is not known.
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

// names returns the other nodes of this node's list, by what they call themselves. It is empty
// until all have answered, and for a while when they call themselves otherwise than before:
// what was said of them must be forgotten first.
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

// listed takes the list of a node that is in no cluster, and asks those whom it names.
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

// group returns the group of this node, the lowest address first, or nil while there is none.
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

// denyTo answers who asks to join while this node seeks a cluster itself.
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

// ungrouped says why this node, which follows, does not found a cluster with its group; it is
// empty if it does.
func (g *seedGroup) ungrouped() string {
	group := g.group()
	switch {
	case len(group) == 0:
		return g.groupless()
	case !g.leads(group):
		return fmt.Sprintf("%s name each other as seeds, and only the lowest address, %s, founds a cluster", strings.Join(group, ", "), group[0])
	case g.recent(g.denied, grantHolds):
		return "a node that is not named may have founded a cluster just now"
	}
	for _, address := range group[1:] {
		if l := g.lists[address]; !l.granted || !g.recent(l.at, answerHolds) {
			return address + " has not agreed yet that this node, the lowest of those that name each other as seeds, founds a cluster"
		}
	}
	return ""
}

// groupless says what is missing for a group.
func (g *seedGroup) groupless() string {
	why := "no seed is a member, and only the first one founds a cluster: " + g.set.Seeds[0]
	if g.contacts.gone[g.set.Seeds[0]] {
		why = "no seed is a member, and the first one is gone: the others found a cluster when all of them have answered and name each other"
	}
	if silent := g.contacts.absent(); len(silent) > 0 {
		why += "; there is no answer of " + strings.Join(silent, ", ")
	}
	return why + g.contacts.advice()
}
