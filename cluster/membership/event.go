package membership

import (
	"slices"
)

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
	if len(v.Members) == 0 && len(before.Members) > 0 {
		return append([]Event{MembershipLost{v.Self}}, v.leadersSince(before)...)
	}
	return slices.Concat(v.removedSince(before), v.movedSince(before), v.reachabilitySince(before), v.leadersSince(before))
}

func (v View) removedSince(before View) []Event {
	var events []Event
	for _, m := range before.Members {
		if _, still := v.find(m.ID()); !still {
			e := MemberRemoved{Member: m, Before: m.Status, Clean: v.tombstones[m.ID()].Clean}
			e.Member.Status = Removed
			events = append(events, e)
		}
	}
	return events
}

func (v View) movedSince(before View) []Event {
	var events []Event
	for _, m := range v.Members {
		if old, _ := before.find(m.ID()); old.Status != m.Status {
			events = append(events, moved(m))
		}
	}
	return events
}

// moved returns the event for a member's current status.
func moved(m Member) Event {
	switch m.Status {
	case Joining:
		return MemberJoined{m}
	case Up:
		return MemberUp{m}
	case Leaving:
		return MemberLeaving{m}
	case Exiting:
		return MemberExiting{m}
	case Down:
		return MemberDowned{m}
	case Removed:
	}
	panic("cluster: a member of a view is " + m.Status.String())
}

func (v View) reachabilitySince(before View) []Event {
	var events []Event
	for _, m := range v.Members {
		switch was, is := before.Reachable(m), v.Reachable(m); {
		case was && !is:
			events = append(events, MemberUnreachable{Member: m, By: v.UnreachableBy(m)})
		case !was && is:
			events = append(events, MemberReachable{m})
		}
	}
	return events
}

func (v View) leadersSince(before View) []Event {
	var events []Event
	for _, role := range union(append(before.roles(), ""), v.roles()) {
		old, _ := before.LeaderOf(role)
		if leader, _ := v.LeaderOf(role); leader.ID() != old.ID() {
			events = append(events, LeaderChanged{Role: role, Before: old, After: leader})
		}
	}
	return events
}

// roles returns all roles that members have, unordered and possibly repeated.
func (v View) roles() []string {
	var roles []string
	for _, m := range v.Members {
		roles = append(roles, m.Roles...)
	}
	return roles
}

// find returns a member by its identity.
func (v View) find(id ID) (Member, bool) {
	i := slices.IndexFunc(v.Members, func(m Member) bool { return m.ID() == id })
	if i < 0 {
		return Member{}, false
	}
	return v.Members[i], true
}
