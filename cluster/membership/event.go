package membership

import (
	"slices"
)

// An Event is one thing that has changed between two views. Events are found by comparing
// views, so they never disagree with them; what comes and goes between two views is no
// event.
//
//sumtype:decl
type Event interface{ changed() }

type (
	// MemberJoined says that there is a member that is joining.
	MemberJoined struct{ Member Member }

	// MemberUp says that a member is up. It may not have been seen joining.
	MemberUp struct{ Member Member }

	// MemberLeaving says that a member hands over what it runs.
	MemberLeaving struct{ Member Member }

	// MemberExiting says that the singletons of a member have ended, and that its other
	// actors are being stopped.
	MemberExiting struct{ Member Member }

	// MemberDowned says that a member has been given up.
	MemberDowned struct{ Member Member }

	// MemberRemoved says that a member is none any more.
	MemberRemoved struct {
		Member Member // its status is Removed
		Before Status // that it was last seen with
		Clean  bool   // nothing of it runs any more, as far as the cluster is concerned
	}

	// MemberUnreachable says that a member that everybody heard from does not answer some.
	// It comes once; who else joins in is in [View.UnreachableBy].
	MemberUnreachable struct {
		Member Member
		By     []Member // who does not hear from it, sorted by address
	}

	// MemberReachable says that all hear from a member again.
	MemberReachable struct{ Member Member }

	// LeaderChanged says that another member leads, or none: see [View.LeaderOf].
	LeaderChanged struct {
		Role   string // among those that have it; empty is all
		Before Member // the zero Member if there was none
		After  Member // the zero Member if there is none
	}

	// MembershipLost says that this node is in no cluster any more: it is down or removed,
	// or already looks for one again. It stands for the removal of all members, of whom
	// nothing more is known; when it has joined again, they come anew.
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

// Since returns what has changed since an earlier view of the same node: who is gone,
// each member whose status is another, who has become unreachable or reachable again, and
// the leaders of all and of each role that a member has; each sorted by address or by
// role. A member gets one event for its status, also when it has skipped some in between.
// Before the zero View there was nothing, so that Since(View{}) describes v.
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

// moved returns the event that a member has the status that it has.
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

// roles returns all roles that members have, in no order and perhaps repeatedly.
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
