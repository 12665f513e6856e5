package membership

import (
	"fmt"
	"strings"
)

// An admission decides who becomes a member.
type admission struct{ *core }

// admit makes who asks a member, unless something is against it.
func (a *admission) admit(from ID, r joinRequest) joinAnswer {
	switch status := a.table.status(from); {
	case !a.mayAdmit():
		return joinAnswer{Verdict: busy}
	case status >= Down:
		return joinAnswer{Verdict: buried}
	case status != 0:
		return joinAnswer{Verdict: welcome, Table: a.table.pack()}
	}
	if err := CheckSelf(r.Name, r.Roles, r.Meta); err != nil {
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
		return joinAnswer{Verdict: nameTaken, Reason: fmt.Sprintf("the member at %s is named %q already", other.Address, r.Name)}
	}
	if difference := a.set.agreement().difference(r.Agreement); difference != "" {
		a.do(Note{Text: "a node with other settings joins", Address: from.Address, Reason: difference})
	}
	a.add(from, r)
	return joinAnswer{Verdict: welcome, Table: a.table.pack()}
}

// mayAdmit reports whether this node can speak for the cluster: it is up, or there is
// nobody up and it is the one to act.
func (a *admission) mayAdmit() bool {
	if a.table.status(a.self) == Up {
		return a.acting
	}
	leader, ok := first(a.table.candidates(a.set.Leader), func(Member) bool { return true })
	return ok && leader.ID() == a.self && leader.Status == Joining
}

// earlier returns the incarnations at the address of a node that wants to join of which
// it is not certain that nothing of them runs. It is, as soon as the node says that it
// replaces them: it has heard of them, so it lives after them at the same address.
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

// named returns the member at another address that has a name.
func (a *admission) named(name, address string) (Member, bool) {
	for _, id := range a.table.ids() {
		if other := a.table.members[id]; other.Name == name && other.Address != address && other.Status < Down {
			return other, true
		}
	}
	return Member{}, false
}

// add adds a joining member, in the place of what lived at its address before.
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
	}
	a.decide(change)
}

// disagreement says why a node must not become a member, with what to do about it; it is empty
// when the node agrees with every member.
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
