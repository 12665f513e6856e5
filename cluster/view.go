package cluster

import (
	"slices"

	"github.com/understudy-go/understudy/cluster/internal/membership"
	"github.com/understudy-go/understudy/remote"
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

// A Status is the stage of a member. Within an incarnation it only moves forward, and may skip
// some.
type Status uint8

// The statuses of a member. A node that looks for a cluster has none of them.
const (
	Joining = Status(membership.Joining) // known to the cluster and learning from it, but not active yet
	Up      = Status(membership.Up)      // a full member
	Leaving = Status(membership.Leaving) // handing over what it runs
	Exiting = Status(membership.Exiting) // its singletons have ended; its other actors are being stopped
	Down    = Status(membership.Down)    // declared dead: it must stop what it runs
	Removed = Status(membership.Removed) // no longer a member, for good
)

// String returns the name of the status in lower case.
func (s Status) String() string { return membership.Status(s).String() }

// A Member is one incarnation of a node, as the cluster sees it. Treat it as a value: its
// slices and maps are shared and must not be changed.
type Member struct {
	Name        string // Config.NodeID
	Address     string // host:port, as the node advertises itself
	Incarnation uint64 // random: it does not tell which of two incarnations is later
	Status      Status
	UpNumber    uint64            // the order in which members came up: the oldest has the lowest; 0 while joining
	Roles       []string          // Config.Roles
	Meta        map[string]string // Config.Meta
	Downing     []string          // the name of Config.Downing; two during a downing.Transition
	AppVersion  string            // Config.AppVersion
}

// ID returns the identity of m.
func (m Member) ID() remote.NodeID {
	return remote.NodeID{Address: m.Address, Incarnation: m.Incarnation}
}

// HasRole reports whether m has a role. Every member has the empty role.
func (m Member) HasRole(role string) bool { return role == "" || slices.Contains(m.Roles, role) }

func memberOf(m membership.Member) Member {
	return Member{
		Name: m.Name, Address: m.Address, Incarnation: m.Incarnation, Status: Status(m.Status), UpNumber: m.UpNumber,
		Roles: m.Roles, Meta: m.Meta, Downing: m.Downing, AppVersion: m.AppVersion,
	}
}

func membersOf(members []membership.Member) []Member {
	var all []Member
	for _, m := range members {
		all = append(all, memberOf(m))
	}
	return all
}

func (m Member) inside() membership.Member {
	return membership.Member{
		Name: m.Name, Address: m.Address, Incarnation: m.Incarnation, Status: membership.Status(m.Status), UpNumber: m.UpNumber,
		Roles: m.Roles, Meta: m.Meta, Downing: m.Downing, AppVersion: m.AppVersion,
	}
}
