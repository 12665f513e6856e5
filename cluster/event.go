package cluster

import "github.com/understudy-go/understudy/cluster/internal/membership"

// An Event is one change between two views. Events result from comparing views, so they never
// disagree with them. A change that was reversed between two views causes no event.
//
//sumtype:decl
type Event interface{ changed() }

type (
	// MemberJoined reports a new member that is joining.
	MemberJoined struct{ Member Member }

	// MemberUp reports that a member is up. There may have been no MemberJoined before it.
	MemberUp struct{ Member Member }

	// MemberLeaving reports that a member is handing over what it runs.
	MemberLeaving struct{ Member Member }

	// MemberExiting reports that the singletons of a member have ended, and that its other
	// actors are being stopped.
	MemberExiting struct{ Member Member }

	// MemberDowned reports that a member is down.
	MemberDowned struct{ Member Member }

	// MemberRemoved reports that a node is no longer a member.
	MemberRemoved struct {
		Member Member // its status is Removed
		Before Status // its last status that this node has seen
		Clean  bool   // nothing of it runs any more, as far as the cluster is concerned
	}

	// MemberUnreachable reports that some member does not hear from a member that all heard
	// before. It comes once; [View.UnreachableBy] names the observers that follow.
	MemberUnreachable struct {
		Member Member
		By     []Member // the members that do not hear from it, sorted by address
	}

	// MemberReachable reports that all members hear from a member again.
	MemberReachable struct{ Member Member }

	// LeaderChanged reports that another member leads, or no member does: see [View.LeaderOf].
	LeaderChanged struct {
		Role   string // the leader among members with this role; empty for all members
		Before Member // the previous leader; the zero Member if there was no leader
		After  Member // the new leader; the zero Member if there is no leader
	}

	// MembershipLost reports that this node is in no cluster any more: it is down or removed,
	// or already looks for a cluster again. It replaces the events for the removal of all
	// members, because nothing more is known of them. When the node has joined again, their
	// events come anew.
	MembershipLost struct{ Self Member }
)

func (MemberJoined) changed()      {}
func (MemberUp) changed()          {}
func (MemberLeaving) changed()     {}
func (MemberExiting) changed()     {}
func (MemberDowned) changed()      {}
func (MemberRemoved) changed()     {}
func (MemberUnreachable) changed() {}
func (MemberReachable) changed()   {}
func (LeaderChanged) changed()     {}
func (MembershipLost) changed()    {}

// Since returns the changes since an earlier view of the same node, in this order: removed
// members, members with another status, changes of reachability, and changes of the leaders of
// all members and of each role. Each group is sorted by address or by role.
//
// A member gets one event for its status, even if it has skipped statuses in between.
// Since(View{}) describes the whole view v.
func (v View) Since(before View) []Event {
	var events []Event
	for _, c := range v.in.Since(before.in) {
		events = append(events, eventOf(c))
	}
	return events
}

func eventOf(c membership.Change) Event {
	m := memberOf(c.Member)
	switch c.Kind {
	case membership.MemberJoined:
		return MemberJoined{m}
	case membership.MemberUp:
		return MemberUp{m}
	case membership.MemberLeaving:
		return MemberLeaving{m}
	case membership.MemberExiting:
		return MemberExiting{m}
	case membership.MemberDowned:
		return MemberDowned{m}
	case membership.MemberRemoved:
		return MemberRemoved{Member: m, Before: Status(c.Before.Status), Clean: c.Clean}
	case membership.MemberUnreachable:
		return MemberUnreachable{Member: m, By: membersOf(c.By)}
	case membership.MemberReachable:
		return MemberReachable{m}
	case membership.LeaderChanged:
		return LeaderChanged{Role: c.Role, Before: memberOf(c.Before), After: m}
	case membership.MembershipLost:
		return MembershipLost{m}
	}
	panic("cluster: a change without an event")
}
