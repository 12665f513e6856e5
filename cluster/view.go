package cluster

import (
	"slices"
	"time"
)

// A View is what a node knows of its cluster at one moment. It does not change; treat
// what it refers to as read-only.
type View struct {
	// Version grows with every change that this node sees. Versions of different nodes
	// cannot be compared.
	Version uint64

	// Self is this node. While it looks for a cluster its status is the zero [Status].
	Self Member

	// Members are the members that have not been removed, sorted by address. A node that
	// looks for a cluster knows none.
	Members []Member

	// Converged reports whether all members are known to agree on who is a member.
	Converged bool

	waiting     []string         // for what, for people
	absent      []string         // addresses, see Node.FoundWithout
	order       []Member         // as candidates
	unreachable map[ID][]ID      // who is, in whose opinion
	managers    map[string][]ID  // of a client: who has one for the singletons that it has refs of
	tombs       map[ID]tomb      // of those removed
	gone        map[ID]time.Time // those removed without a sign that they have stopped, and since when
}

// Leader returns the member that the election prefers among those that are up.
func (v View) Leader() (Member, bool) { return v.LeaderOf("") }

// LeaderOf returns the member that the election prefers among those that are up and have
// a role.
func (v View) LeaderOf(role string) (Member, bool) { return find(v.order, role) }

// Oldest returns the member that has been up the longest among those that have a role;
// the empty role is everyone's.
func (v View) Oldest(role string) (Member, bool) { return find(Oldest().order(v.order), role) }

// find returns the first of the candidates that is up and has a role.
func find(candidates []Member, role string) (Member, bool) {
	i := slices.IndexFunc(candidates, func(m Member) bool { return m.Status == Up && m.HasRole(role) })
	if i < 0 {
		return Member{}, false
	}
	return candidates[i], true
}

// Member returns the member of that name.
func (v View) Member(name string) (Member, bool) {
	i := slices.IndexFunc(v.Members, func(m Member) bool { return m.Name == name && m.Status < Down })
	if i < 0 {
		i = slices.IndexFunc(v.Members, func(m Member) bool { return m.Name == name })
	}
	if i < 0 {
		return Member{}, false
	}
	return v.Members[i], true
}

// Unreachable returns the members that do not answer some other member, sorted by
// address.
func (v View) Unreachable() []Member {
	return slices.DeleteFunc(slices.Clone(v.Members), func(m Member) bool { return v.Reachable(m) })
}

// Reachable reports whether every member that is not down itself hears from m.
func (v View) Reachable(m Member) bool { return len(v.unreachable[m.ID()]) == 0 }

// ObserversOf returns the members that observe m: those whose word [View.Reachable] rests
// on. In a small cluster these are all others, in a larger one nine and some more while
// members are unreachable. They are sorted by address.
func (v View) ObserversOf(m Member) []Member {
	ids := make([]ID, len(v.Members))
	for i, each := range v.Members {
		ids[i] = each.ID()
	}
	observers := neighboursOf(m.ID(), ids, func(id ID) bool {
		return len(v.unreachable[id]) == 0 && !slices.ContainsFunc(v.Members, func(o Member) bool { return o.ID() == id && o.Status >= Exiting })
	}).observers
	return slices.DeleteFunc(slices.Clone(v.Members), func(o Member) bool { return !slices.Contains(observers, o.ID()) })
}

// UnreachableBy returns the members that do not hear from m, sorted by address.
func (v View) UnreachableBy(m Member) []Member {
	observers := v.unreachable[m.ID()]
	return slices.DeleteFunc(slices.Clone(v.Members), func(o Member) bool { return !slices.Contains(observers, o.ID()) })
}
