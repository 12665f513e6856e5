package cluster

import "slices"

// unreachable returns who is unreachable, and in whose opinion, sorted. The opinion of a
// member that is down counts for nothing.
func (t table) unreachable() map[ID][]ID {
	by := map[ID][]ID{}
	for _, observer := range t.ids() {
		if t.members[observer].Status >= Down {
			continue
		}
		for _, subject := range t.rows[observer].Unreachable {
			if _, known := t.members[subject]; known {
				by[subject] = append(by[subject], observer)
			}
		}
	}
	return by
}

// converged reports whether every member that counts is known to have exactly the members
// of a sum, and all that are not down are reachable. Only then may a leader promote or
// remove, so that all members know of each other before any of them acts.
func (t table) converged(members uint64, unreachable map[ID][]ID) bool {
	for subject := range unreachable {
		if t.members[subject].Status < Down {
			return false
		}
	}
	return !slices.ContainsFunc(t.voters(), func(id ID) bool { return t.seen[id].Members != members })
}

// voters are the members that must agree: those that are or were up; before there are
// any, those that join.
func (t table) voters() []ID {
	var voters, joining []ID
	for _, id := range t.ids() {
		switch t.members[id].Status {
		case Up, Leaving:
			voters = append(voters, id)
		case Joining:
			joining = append(joining, id)
		}
	}
	if len(voters) == 0 {
		return joining
	}
	return voters
}
