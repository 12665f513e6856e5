package cluster

import "github.com/understudy-go/understudy/cluster/membership"

// Types of package membership, under the names that users of this package know. go doc does not
// find methods by the names here. Ask it for those of package membership:
//
//	go doc github.com/understudy-go/understudy/cluster/membership View.AliveCount
type (
	// An ID identifies one incarnation of a node: its Address, a host:port, and a random number,
	// its Incarnation. String and Compare are its methods.
	ID = membership.ID
	// A Status is the stage of a member's life: one of the constants below. String returns its
	// name.
	Status = membership.Status
	// A Member is one incarnation of a node, as the cluster sees it. Its fields are Name, Address,
	// Incarnation, Status, UpNumber, Roles, Meta, Downing and AppVersion. HasRole and ID are its
	// methods; see [membership.Member].
	Member = membership.Member
	// A View is what a node knows of its cluster at one moment. Its fields are Version, Self,
	// Members and Converged. Its methods include:
	//
	//	Leader, LeaderOf(role)     the member that leads, of all or with a role
	//	Oldest(role)               the member with the role that has been up the longest
	//	Member(name)               the member with that Config.NodeID
	//	AliveCount, TotalCount     how many members can be reached and are not down, and how many
	//	                           there are; those that join or leave count in both
	//	Reachable(member)          whether all hear from a member
	//	Unreachable                the members that some member does not hear from
	//	UnreachableBy(member)      the members that do not hear from it
	//	AppVersions                the different values of Config.AppVersion
	//	Since(earlier)             the events between two views
	//	Waiting                    why nothing progresses, as text
	//
	// See [membership.View].
	View = membership.View
	// A Detector says how quickly a silent member becomes unreachable. Zero in a field stands for
	// the value of [LAN]. Package membership documents the fields, with units, defaults and ranges.
	Detector = membership.Detector
	// A LeaderElection is the order in which members are preferred as leader. [Oldest],
	// [LowestAddress] and [OfRole] return one. To define your own, set its fields Name and Compare;
	// see [membership.LeaderElection].
	LeaderElection = membership.LeaderElection
	// A RefusedError is returned by [Start] when a member does not let the node join. Address is
	// that member, and Reason says why and what to do.
	RefusedError = membership.RefusedError
)

// The statuses of a member. It passes them in this order, and may skip some; see [Status].
const (
	Joining = membership.Joining
	Up      = membership.Up
	Leaving = membership.Leaving
	Exiting = membership.Exiting
	Down    = membership.Down
	Removed = membership.Removed
)

// The events are types of package membership. Their fields are named here; see
// [membership.MemberRemoved] and the others for what they mean.
type (
	// An Event describes one difference between two views; see [membership.View.Since].
	Event = membership.Event
	// MemberJoined is an [Event]: a new Member is joining.
	MemberJoined = membership.MemberJoined
	// MemberUp is an [Event]: Member is up.
	MemberUp = membership.MemberUp
	// MemberLeaving is an [Event]: Member is handing over what it runs.
	MemberLeaving = membership.MemberLeaving
	// MemberExiting is an [Event]: the singletons of Member have ended, and its other actors stop.
	MemberExiting = membership.MemberExiting
	// MemberDowned is an [Event]: Member is down.
	MemberDowned = membership.MemberDowned
	// MemberRemoved is an [Event]: Member is no longer a member. Before is its last status. Clean
	// is true if nothing of it runs any more.
	MemberRemoved = membership.MemberRemoved
	// MemberUnreachable is an [Event]: the members By do not hear from Member.
	MemberUnreachable = membership.MemberUnreachable
	// MemberReachable is an [Event]: all hear from Member again.
	MemberReachable = membership.MemberReachable
	// LeaderChanged is an [Event]: among members with Role, After leads, where Before led. Role is
	// "" for all members.
	LeaderChanged = membership.LeaderChanged
	// MembershipLost is an [Event]: this node, Self, is in no cluster any more.
	MembershipLost = membership.MembershipLost
)

// ErrNotJoining: [Node.FoundWithout] was called on a node that is in a cluster or stops. To give up
// a member of a cluster, call [Node.Down].
var ErrNotJoining = membership.ErrNotJoining

// LAN returns the detector for a local network: a killed node is unreachable after about 0.8 s. It
// is the default.
func LAN() Detector { return membership.LAN() }

// WAN returns the detector for long or lossy lines and noisy neighbours: a killed node is
// unreachable after about 4 s.
func WAN() Detector { return membership.WAN() }

// Local returns the detector for nodes on one machine, as in tests: a killed node is unreachable
// after about 0.6 s.
func Local() Detector { return membership.Local() }

// Oldest prefers the member that has been up the longest. It is the default.
func Oldest() LeaderElection { return membership.Oldest() }

// LowestAddress prefers the member with the lowest address, compared as text.
func LowestAddress() LeaderElection { return membership.LowestAddress() }

// OfRole prefers members with a role, in the order of another election. Members without the role
// come last.
func OfRole(role string, among LeaderElection) LeaderElection {
	return membership.OfRole(role, among)
}
