package membership

import (
	"maps"
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
	tombstones  map[ID]tombstone // of those removed
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

// A Removal is a member that was removed.
type Removal struct {
	ID       ID
	Name     string
	UpNumber uint64
	Roles    []string
	Since    time.Time // when this node learned of it, by its own clock
}

// NewView returns the view of an observer that is not a member itself. The members are in
// the order of [Candidates].
func NewView(version uint64, self Member, converged bool, candidates []Member, unreachableBy map[ID][]ID) View {
	v := View{Version: version, Self: self, Converged: converged, order: candidates, unreachable: unreachableBy}
	v.Members = slices.SortedFunc(slices.Values(candidates), func(a, b Member) int { return a.ID().Compare(b.ID()) })
	return v
}

// Candidates returns the members of v in the order in which the election prefers them.
func Candidates(v View) []Member { return v.order }

// IsRemoved reports whether v knows that a member was removed.
func IsRemoved(v View, id ID) bool {
	_, removed := v.tombstones[id]
	return removed
}

// UncleanRemovals returns the members that were removed without a sign that what ran on
// them has stopped, in order of their IDs.
func UncleanRemovals(v View) []Removal {
	all := make([]Removal, 0, len(v.gone))
	for _, id := range slices.SortedFunc(maps.Keys(v.gone), ID.Compare) {
		dead := v.tombstones[id]
		all = append(all, Removal{ID: id, Name: dead.Name, UpNumber: dead.UpNumber, Roles: dead.Roles, Since: v.gone[id]})
	}
	return all
}

// Reasons returns what [View.Waiting] joins: why nothing moves, each as a sentence.
func Reasons(v View) []string { return v.waiting }

// Absent returns the addresses of the nodes that do not answer while this node looks for a
// cluster.
func Absent(v View) []string { return v.absent }
