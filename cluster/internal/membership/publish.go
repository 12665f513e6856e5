package membership

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/understudy-go/understudy/internal/guard"
)

// Waiting describes for users why nothing progresses: which members are unreachable and what
// will end that, which members must still join, and which have not agreed yet. It is empty if
// nothing is missing.
func (v View) Waiting() string { return strings.Join(v.waiting, "; ") }

func (r Settings) untilDown() string {
	name, delay := guard.Text(r.Downing), DelayOf(r.Downing)
	if delay < 0 {
		return "downing is " + name + ": heal it or call Down"
	}
	return "downing by " + name + " decides when nothing has changed for " + delay.String()
}

func namesOf(members []Member) []string {
	var names []string
	for _, m := range members {
		names = append(names, m.Name)
	}
	return names
}

func (c *core) publish() {
	c.version++
	c.do(Publish{c.view()})
}

func (c *core) view() View {
	v := View{Version: c.version, Self: c.set.Self, tombstones: maps.Clone(c.table.tombstones)}
	if c.phase != phaseMember {
		v.lost = cmp.Or(c.lost, c.set.Lost)
	}
	switch c.phase {
	case phaseIdle, phaseJoining:
		v.waiting = c.whyWaiting(v)
		v.absent = c.absent
		return v
	case phaseDowned:
		v.Self.Status = Down
		return v
	case phaseDeparting, phaseEnded:
		v.Self.Status = Removed
		return v
	case phaseMember:
	}
	for _, id := range c.table.ids() {
		each := c.table.members[id]
		if id == c.self && each.Status == Up && !c.acting {
			each.Status = Joining
		}
		if id == c.self {
			v.Self = each
		}
		v.Members = append(v.Members, each)
	}
	v.unreachable = c.table.unreachable()
	v.Converged = c.converged
	v.order = c.set.Leader.order(v.Members)
	v.gone = c.uncleanRemovals()
	v.waiting = c.whyWaiting(v)
	return v
}

// uncleanRemovals returns the members that were removed without a sign that they have stopped,
// and since when.
func (c *core) uncleanRemovals() map[ID]time.Time {
	gone := map[ID]time.Time{}
	for id, dead := range c.table.tombstones {
		if !dead.Clean {
			gone[id] = c.removed[id]
		}
	}
	return gone
}

func (c *core) whyWaiting(v View) []string {
	switch {
	case c.phase == phaseJoining:
		return cmp.Or(c.waitingFor, obstacle{why: "looking for a cluster"}).sentences()
	case c.phase != phaseMember:
		return nil
	}
	var why []string
	for _, each := range v.Unreachable() {
		if each.Status < Exiting {
			why = append(why, fmt.Sprintf("%s is unreachable (by %s) and %s", each.Name, strings.Join(namesOf(v.UnreachableBy(each.ID())), ", "), c.set.untilDown()))
		}
	}
	if lacks := c.set.lacks(c.table); len(lacks) > 0 {
		why = append(why, "fewer members than Config.MinMembers and MinMembersOf ask for: "+strings.Join(lacks, ", "))
	}
	if late := c.notSeen(); len(why) == 0 && len(late) > 0 {
		why = append(why, "members have not agreed: waiting for "+strings.Join(late, ", "))
	}
	return why
}

func (c *core) notSeen() []string {
	var late []string
	for _, id := range c.table.voters() {
		if !c.seenBy.has(id) {
			late = append(late, c.table.members[id].Name)
		}
	}
	slices.Sort(late)
	return late
}

// A Change is one difference between two views. Package cluster shows it to users as an event.
type Change struct {
	Kind   ChangeKind
	Member Member   // which has changed; of LeaderChanged, which leads now; of MembershipLost, this node
	Before Member   // of MemberRemoved the member as it was; of LeaderChanged the leader before
	Clean  bool     // of MemberRemoved: nothing of it runs any more
	By     []Member // of MemberUnreachable: the members that do not hear from it, sorted by address
	Role   string   // of LeaderChanged: among members with this role; "" for all
}

// A ChangeKind says what has changed.
type ChangeKind uint8

// The kinds of changes, each of which is an event of package cluster.
const (
	MemberJoined ChangeKind = iota
	MemberUp
	MemberLeaving
	MemberExiting
	MemberDowned
	MemberRemoved
	MemberUnreachable
	MemberReachable
	LeaderChanged
	MembershipLost
)

// Since returns the changes since an earlier view of the same node, in this order: removed
// members, members with another status, changes of reachability, and changes of the leaders of
// all members and of each role. Each group is sorted by address or by role.
//
// A member gets one event for its status, even if it has skipped statuses in between.
// Since(View{}) describes the whole view v.
func (v View) Since(before View) []Change {
	if len(v.Members) == 0 && len(before.Members) > 0 {
		return append([]Change{{Kind: MembershipLost, Member: v.Self}}, v.leadersSince(before)...)
	}
	return slices.Concat(v.removedSince(before), v.movedSince(before), v.reachabilitySince(before), v.leadersSince(before))
}

func (v View) removedSince(before View) []Change {
	var changes []Change
	for _, m := range before.Members {
		if _, still := v.find(m.ID()); !still {
			e := Change{Kind: MemberRemoved, Member: m, Before: m, Clean: v.tombstones[m.ID()].Clean}
			e.Member.Status = Removed
			changes = append(changes, e)
		}
	}
	return changes
}

func (v View) movedSince(before View) []Change {
	var changes []Change
	for _, m := range v.Members {
		if old, _ := before.find(m.ID()); old.Status != m.Status {
			changes = append(changes, Change{Kind: ofStatus[m.Status], Member: m})
		}
	}
	return changes
}

// ofStatus has the kind of change that leads to a status.
var ofStatus = [...]ChangeKind{Joining: MemberJoined, Up: MemberUp, Leaving: MemberLeaving, Exiting: MemberExiting, Down: MemberDowned}

func (v View) reachabilitySince(before View) []Change {
	var changes []Change
	for _, m := range v.Members {
		switch was, is := before.Reachable(m.ID()), v.Reachable(m.ID()); {
		case was && !is:
			changes = append(changes, Change{Kind: MemberUnreachable, Member: m, By: v.UnreachableBy(m.ID())})
		case !was && is:
			changes = append(changes, Change{Kind: MemberReachable, Member: m})
		}
	}
	return changes
}

func (v View) leadersSince(before View) []Change {
	var changes []Change
	for _, role := range union(append(before.roles(), ""), v.roles()) {
		old, _ := before.LeaderOf(role)
		if leader, _ := v.LeaderOf(role); leader.ID() != old.ID() {
			changes = append(changes, Change{Kind: LeaderChanged, Role: role, Before: old, Member: leader})
		}
	}
	return changes
}

func (v View) roles() []string {
	var roles []string
	for _, m := range v.Members {
		roles = append(roles, m.Roles...)
	}
	return roles
}

func (v View) find(id ID) (Member, bool) {
	i := slices.IndexFunc(v.Members, func(m Member) bool { return m.ID() == id })
	if i < 0 {
		return Member{}, false
	}
	return v.Members[i], true
}
