package cluster

import "github.com/understudy-go/understudy/cluster/membership"

// What package membership knows of a cluster, under the names by which users know it.
type (
	// An ID is one incarnation of a node.
	ID = membership.ID
	// A Status is how far a member has come.
	Status = membership.Status
	// A Member is one incarnation of a node, as the cluster sees it.
	Member = membership.Member
	// A View is what a node knows of its cluster at one moment.
	View = membership.View
	// A Detector configures how quickly a silent member becomes unreachable.
	Detector = membership.Detector
	// A LeaderElection is the order in which members are preferred as leader.
	LeaderElection = membership.LeaderElection
	// A RefusedError is returned by [Start] when a member does not let the node in.
	RefusedError = membership.RefusedError
)

// The statuses of a member.
const (
	Joining = membership.Joining
	Up      = membership.Up
	Leaving = membership.Leaving
	Exiting = membership.Exiting
	Down    = membership.Down
	Removed = membership.Removed
)

// What changes between two views, see [View.Since].
type (
	Event             = membership.Event
	MemberJoined      = membership.MemberJoined
	MemberUp          = membership.MemberUp
	MemberLeaving     = membership.MemberLeaving
	MemberExiting     = membership.MemberExiting
	MemberDowned      = membership.MemberDowned
	MemberRemoved     = membership.MemberRemoved
	MemberUnreachable = membership.MemberUnreachable
	MemberReachable   = membership.MemberReachable
	LeaderChanged     = membership.LeaderChanged
	MembershipLost    = membership.MembershipLost
)

// ErrNotJoining is returned by [Node.FoundWithout] when the node is in a cluster, or stops.
var ErrNotJoining = membership.ErrNotJoining

// LAN returns the detector for a local network, which is the default.
func LAN() Detector { return membership.LAN() }

// WAN returns the detector for long or lossy lines, and for nodes in a noisy neighbourhood.
func WAN() Detector { return membership.WAN() }

// Local returns the detector for nodes on one machine, as in tests.
func Local() Detector { return membership.Local() }

// Oldest elects the member that has been up the longest. It is the default.
func Oldest() LeaderElection { return membership.Oldest() }

// LowestAddress elects the member with the lowest address.
func LowestAddress() LeaderElection { return membership.LowestAddress() }

// OfRole elects, by another election, among the members that have a role.
func OfRole(role string, among LeaderElection) LeaderElection {
	return membership.OfRole(role, among)
}
