package cluster

import "github.com/understudy-go/understudy/cluster/membership"

// Types of package membership, under the names that users of this package know. Their fields and
// methods are documented there: go doc github.com/understudy-go/understudy/cluster/membership View.
type (
	// An ID identifies one incarnation of a node.
	ID = membership.ID
	// A Status is the stage of a member's life.
	Status = membership.Status
	// A Member is one incarnation of a node, as the cluster sees it.
	Member = membership.Member
	// A View is what a node knows of its cluster at one moment.
	View = membership.View
	// A Detector says how quickly a silent member becomes unreachable. Zero in a field stands for
	// the value of [LAN]. Package membership documents the fields, with units, defaults and ranges.
	Detector = membership.Detector
	// A LeaderElection is the order in which members are preferred as leader.
	LeaderElection = membership.LeaderElection
	// A RefusedError is returned by [Start] when a member does not let the node join.
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

// The events are the types of package membership, which documents their fields.
type (
	// An Event describes one difference between two views; see [View.Since].
	Event = membership.Event
	// MemberJoined is an [Event].
	MemberJoined = membership.MemberJoined
	// MemberUp is an [Event].
	MemberUp = membership.MemberUp
	// MemberLeaving is an [Event].
	MemberLeaving = membership.MemberLeaving
	// MemberExiting is an [Event].
	MemberExiting = membership.MemberExiting
	// MemberDowned is an [Event].
	MemberDowned = membership.MemberDowned
	// MemberRemoved is an [Event].
	MemberRemoved = membership.MemberRemoved
	// MemberUnreachable is an [Event].
	MemberUnreachable = membership.MemberUnreachable
	// MemberReachable is an [Event].
	MemberReachable = membership.MemberReachable
	// LeaderChanged is an [Event].
	LeaderChanged = membership.LeaderChanged
	// MembershipLost is an [Event].
	MembershipLost = membership.MembershipLost
)

// ErrNotJoining is returned by [Node.FoundWithout] when the node is in a cluster or stops.
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
