package membership

import (
	"maps"
	"slices"
	"time"
)

// A View is what a node knows of its cluster at one moment. It does not change; treat its
// slices and maps as read-only.
type View struct {
	// Version grows with every change that this node sees. Versions of different nodes cannot
	// be compared.
	Version uint64

	// Self is this node. While the node looks for a cluster, its status is the zero [Status].
	Self Member

	// Members are the members that have not been removed, sorted by address. The list is empty
	// while the node looks for a cluster.
	Members []Member

	// Converged reports whether all members are known to agree on the membership.
	Converged bool

	waiting     []string         // what this node waits for, as text for users
	absent      []string         // addresses, see Node.FoundWithout
	lost        string           // why this node was taken down
	order       []Member         // the members in the order of the election
	unreachable map[ID][]ID      // unreachable members, and the members that do not hear from them
	tombstones  map[ID]tombstone // removed members
	gone        map[ID]time.Time // members removed without a sign that they have stopped, and since when
}

// Leader returns the member that the election prefers among those that are up. It returns false
// if no member is up.
func (v View) Leader() (Member, bool) { return v.LeaderOf("") }

// LeaderOf returns the member that the election prefers among those that are up and have a
// role. It returns false if no member qualifies.
func (v View) LeaderOf(role string) (Member, bool) { return find(v.order, role) }

// Oldest returns the member that has been up the longest among those that are up and have a
// role. Every member has the empty role. It returns false if there is no such member.
func (v View) Oldest(role string) (Member, bool) { return find(Oldest().order(v.order), role) }

func find(candidates []Member, role string) (Member, bool) {
	i := slices.IndexFunc(candidates, func(m Member) bool { return m.Status == Up && m.HasRole(role) })
	if i < 0 {
		return Member{}, false
	}
	return candidates[i], true
}

// Member returns the member with a name. It prefers a member that is not down. It returns false
// if there is no such member.
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

// AliveCount returns the number of members that are not down and can be reached. Members that are
// joining, leaving or exiting count.
func (v View) AliveCount() int {
	alive := 0
	for _, m := range v.Members {
		if m.Status < Down && v.Reachable(m.ID()) {
			alive++
		}
	}
	return alive
}

// TotalCount returns the number of members, including those that are down or cannot be reached.
// Removed members do not count.
func (v View) TotalCount() int { return len(v.Members) }

// Unreachable returns the members that some other member does not hear from, sorted by address.
func (v View) Unreachable() []Member {
	return slices.DeleteFunc(slices.Clone(v.Members), func(m Member) bool { return v.Reachable(m.ID()) })
}

// Reachable reports whether every member that is not down itself hears from m.
func (v View) Reachable(id ID) bool { return len(v.unreachable[id]) == 0 }

// ObserversOf returns the members that observe m, sorted by address. [View.Reachable] depends
// on their reports. In a cluster of up to twelve members these are all others. In a larger one
// these are nine, and more while members are unreachable.
func (v View) ObserversOf(m ID) []Member {
	ids := make([]ID, len(v.Members))
	for i, each := range v.Members {
		ids[i] = each.ID()
	}
	observers := neighboursOf(m, ids, func(id ID) bool {
		return len(v.unreachable[id]) == 0 && !slices.ContainsFunc(v.Members, func(o Member) bool { return o.ID() == id && o.Status >= Exiting })
	}).observers
	return slices.DeleteFunc(slices.Clone(v.Members), func(o Member) bool { return !slices.Contains(observers, o.ID()) })
}

// UnreachableBy returns the members that do not hear from m, sorted by address.
func (v View) UnreachableBy(m ID) []Member {
	observers := v.unreachable[m]
	return slices.DeleteFunc(slices.Clone(v.Members), func(o Member) bool { return !slices.Contains(observers, o.ID()) })
}

// A Removal describes a member that was removed.
type Removal struct {
	ID       ID
	Name     string
	UpNumber uint64
	Roles    []string
	Since    time.Time // when this node learned of the removal, by its own clock
}

// AppVersions returns the different values of Config.AppVersion that members that are up have,
// sorted as text. There are two or more during a rolling upgrade.
func (v View) AppVersions() []string {
	var all []string
	for _, m := range v.Members {
		if m.Status == Up {
			all = append(all, m.AppVersion)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// NewView returns the view of an observer that is not a member itself. The candidates are in
// the order that [Candidates] returns.
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

// UncleanRemovals returns the members that were removed without a sign that they have stopped,
// in order of their IDs.
func UncleanRemovals(v View) []Removal {
	all := make([]Removal, 0, len(v.gone))
	for _, id := range slices.SortedFunc(maps.Keys(v.gone), ID.Compare) {
		dead := v.tombstones[id]
		all = append(all, Removal{ID: id, Name: dead.Name, UpNumber: dead.UpNumber, Roles: dead.Roles, Since: v.gone[id]})
	}
	return all
}

// Reasons returns the parts that [View.Waiting] joins: why nothing progresses, one reason each.
func Reasons(v View) []string { return v.waiting }

// Absent returns the addresses of the nodes that do not answer while this node looks for a
// cluster.
func Absent(v View) []string { return v.absent }

// Lost returns why the node of a view is no member any more, if it was taken down and has not
// joined again. It is empty otherwise.
func Lost(v View) string { return v.lost }
