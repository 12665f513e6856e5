package cluster

import "github.com/understudy-go/understudy/cluster/internal/membership"

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

	in membership.View
}

func viewOf(v membership.View) View {
	return View{Version: v.Version, Self: memberOf(v.Self), Members: membersOf(v.Members), Converged: v.Converged, in: v}
}

// Leader returns the member that the election prefers among those that are up. It returns false
// if no member is up.
func (v View) Leader() (Member, bool) { return v.LeaderOf("") }

// LeaderOf returns the member that the election prefers among those that are up and have a
// role. It returns false if no member qualifies.
func (v View) LeaderOf(role string) (Member, bool) { return perhaps(v.in.LeaderOf(role)) }

// Oldest returns the member that has been up the longest among those that are up and have a
// role. Every member has the empty role. It returns false if there is no such member.
func (v View) Oldest(role string) (Member, bool) { return perhaps(v.in.Oldest(role)) }

// Member returns the member with a name, see [Config.NodeID]. It prefers a member that is not down.
// It returns false if there is no such member.
func (v View) Member(name string) (Member, bool) { return perhaps(v.in.Member(name)) }

func perhaps(m membership.Member, ok bool) (Member, bool) { return memberOf(m), ok }

// AliveCount returns the number of members that are not down and can be reached. Members that are
// joining, leaving or exiting count.
func (v View) AliveCount() int { return v.in.AliveCount() }

// TotalCount returns the number of members, including those that are down or cannot be reached.
// Removed members do not count.
func (v View) TotalCount() int { return len(v.Members) }

// Unreachable returns the members that some other member does not hear from, sorted by address.
func (v View) Unreachable() []Member { return membersOf(v.in.Unreachable()) }

// Reachable reports whether every member that is not down itself hears from m.
func (v View) Reachable(m Member) bool { return v.in.Reachable(m.ID()) }

// ObserversOf returns the members that observe m, sorted by address. [View.Reachable] depends
// on their reports. In a cluster of up to twelve members these are all others. In a larger one
// these are nine, and more while members are unreachable.
func (v View) ObserversOf(m Member) []Member { return membersOf(v.in.ObserversOf(m.ID())) }

// UnreachableBy returns the members that do not hear from m, sorted by address.
func (v View) UnreachableBy(m Member) []Member { return membersOf(v.in.UnreachableBy(m.ID())) }

// AppVersions returns the different values of [Config.AppVersion] that members that are up have,
// sorted as text. There are two or more during a rolling upgrade.
func (v View) AppVersions() []string { return v.in.AppVersions() }

// Waiting describes for users why nothing progresses: which members are unreachable and what
// will end that, which members must still join, and which have not agreed yet. It is empty if
// nothing is missing.
func (v View) Waiting() string { return v.in.Waiting() }
