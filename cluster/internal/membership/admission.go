package membership

import (
	"cmp"
	"fmt"
	"strings"
)

type admission struct{ *core }

// admit answers a node that asks to join. It makes the node a joining member unless a rule
// forbids that.
func (a *admission) admit(from ID, r joinRequest) joinAnswer {
	switch status := a.table.status(from); {
	case !a.mayAdmit():
		return joinAnswer{Verdict: busy}
	case status >= Down:
		return joinAnswer{Verdict: buried}
	case status != 0:
		return joinAnswer{Verdict: welcome, Table: a.table.pack()}
	}
	if err := cmp.Or(CheckSelf(r.Name, r.Roles, r.Meta), CheckAppVersion(r.AppVersion)); err != nil {
		return joinAnswer{Verdict: refused, Reason: err.Error()}
	}
	if reason := a.disagreement(r.Agreement); reason != "" {
		return joinAnswer{Verdict: refused, Reason: reason}
	}
	if earlier := a.earlier(from); len(union(r.Replaces, earlier)) > len(union(r.Replaces, nil)) {
		return joinAnswer{Verdict: replace, Replaces: earlier}
	}
	if other, taken := a.named(r.Name, from.Address); taken {
		if len(a.table.unreachable()[other.ID()]) > 0 {
			return joinAnswer{Verdict: busy} // it may be the same node, from before a crash
		}
		return joinAnswer{Verdict: nameTaken, Reason: fmt.Sprintf("the member at %s is named %q already; give each node a Config.NodeID of its own", other.Address, r.Name)}
	}
	if difference := a.set.agreement().difference(r.Agreement); difference != "" {
		a.do(Note{Text: "a node with other settings joins", Address: from.Address, Reason: difference})
	}
	a.add(from, r)
	return joinAnswer{Verdict: welcome, Table: a.table.pack()}
}

// mayAdmit reports whether this node can speak for the cluster: it is up, or no member is up
// and this node is the first candidate.
func (a *admission) mayAdmit() bool {
	if a.table.status(a.self) == Up {
		return a.acting
	}
	leader, ok := first(a.table.candidates(a.set.Leader), func(Member) bool { return true })
	return ok && leader.ID() == a.self && leader.Status == Joining
}

// earlier returns the incarnations at the address of a joining node that may still run. They
// certainly do not run any more once the node says that it replaces them: it has heard of them,
// so it started after them at the same address.
func (a *admission) earlier(from ID) []uint64 {
	var numbers []uint64
	for _, id := range a.table.at(from.Address) {
		numbers = append(numbers, id.Incarnation)
	}
	for id, dead := range a.table.tombstones {
		if id.Address == from.Address && !dead.Clean {
			numbers = append(numbers, id.Incarnation)
		}
	}
	return union(numbers, nil)
}

func (a *admission) named(name, address string) (Member, bool) {
	for _, id := range a.table.ids() {
		if other := a.table.members[id]; other.Name == name && other.Address != address && other.Status < Down {
			return other, true
		}
	}
	return Member{}, false
}

// add adds a joining member, which replaces the incarnations that lived at its address before.
func (a *admission) add(from ID, r joinRequest) {
	change := a.change()
	for _, number := range a.earlier(from) {
		change.tombstones[ID{Address: from.Address, Incarnation: number}] = tombstone{Clean: true, At: a.unix()}
	}
	change.members[from] = Member{
		Name:        r.Name,
		Address:     from.Address,
		Incarnation: from.Incarnation,
		Status:      Joining,
		Roles:       r.Roles,
		Meta:        r.Meta,
		Downing:     r.Agreement.Downing,
		AppVersion:  r.AppVersion,
	}
	a.decide(change)
}

// disagreement returns why a node must not become a member, and what to do about it. The text
// is empty if the node agrees with every member.
func (a *admission) disagreement(with agreement) string {
	ours := a.set.agreement()
	if with.Leader != ours.Leader {
		return fmt.Sprintf("this cluster has leader %s; the node has leader %s: it must be the same on all nodes, stop all of them to change Config.Leader", ours.Leader, with.Leader)
	}
	if a.table.youngest() == 0 && with.Minimum != ours.Minimum {
		return fmt.Sprintf("this cluster has %s; the node has %s: set Config.MinMembers and MinMembersOf to the same on all nodes", ours.Minimum, with.Minimum)
	}
	for _, id := range a.table.ids() {
		each := a.table.members[id]
		if each.Status < Down && len(each.Downing) > 0 && !shares(each.Downing, with.Downing) {
			return fmt.Sprintf("member %s has downing %s; the node has downing %s: to change Config.Downing in rolling restarts, first restart all nodes with a downing.Transition",
				each.Name, strings.Join(each.Downing, " and "), strings.Join(with.Downing, " and "))
		}
	}
	return ""
}
