package downing

import (
	"cmp"
	"slices"
)

// Split returns the members that the decider is connected to, directly or through others, and
// the other members. The decider itself is in here. A link counts when one end observes the
// other, and neither has reported the other as unreachable. Split follows links from the
// observer to the observed member, because only the reports of connected observers reach the
// decider.
func (s Situation) Split() (here, there []Member) {
	connected := map[string]bool{}
	for _, m := range s.Members {
		if m.Self {
			s.connect(m, connected)
		}
	}
	for _, m := range s.Members {
		if connected[m.Address] {
			here = append(here, m)
		} else {
			there = append(there, m)
		}
	}
	return here, there
}

func (s Situation) connect(m Member, connected map[string]bool) {
	connected[m.Address] = true
	for _, o := range s.Members {
		if !connected[o.Address] && observes(m, o) && !broken(m, o) {
			s.connect(o, connected)
		}
	}
}

func observes(m, o Member) bool {
	return o.ObservedBy == nil || slices.Contains(o.ObservedBy, m.Address)
}

func broken(a, b Member) bool {
	return slices.Contains(a.UnreachableBy, b.Address) || slices.Contains(b.UnreachableBy, a.Address)
}

func noMember(Member) bool { return false }

// unlinked returns the members of one side that must go down, so that all that stay have links
// to each other.
//
// Members that are joining or leaving go first, one after the other: they run nothing yet, or
// are about to stop. Next go the members with the most broken links, all of them if several
// have equally many, until no link is broken. If the link between two members is the only
// broken one of both, nobody can tell which member is at fault, so both go. Akka's split brain
// resolver treats indirectly connected nodes in the same way. A member with many broken links
// goes alone.
//
// A spared member stays, and members that have no link to it go; at most one member is spared.
// If the rule would leave no member, the oldest one is spared.
func unlinked(side []Member, spared func(Member) bool) []Member {
	up, out := withoutPassing(side)
	gone := worstFirst(up, spared)
	if len(gone) == len(up) && len(up) > 0 {
		first, _ := oldest(up)
		gone = worstFirst(up, first.same)
	}
	return append(out, gone...)
}

// withoutPassing splits one side into the joining and leaving members with broken links (out),
// and the other members (left).
func withoutPassing(side []Member) (left, out []Member) {
	left = slices.Clone(side)
	for {
		lacking := filter(left, func(m Member) bool { return (m.Joining || m.Leaving) && faults(m, left, noMember) > 0 })
		if len(lacking) == 0 {
			return left, out
		}
		worst := slices.MaxFunc(lacking, func(a, b Member) int {
			return cmp.Or(cmp.Compare(faults(a, left, noMember), faults(b, left, noMember)), cmp.Compare(a.Address, b.Address))
		})
		out = append(out, worst)
		left = slices.DeleteFunc(left, worst.same)
	}
}

// worstFirst returns the members with the most broken links, then those with the most among the
// rest, until no link is broken.
func worstFirst(side []Member, spared func(Member) bool) (out []Member) {
	left := slices.Clone(side)
	for {
		most := 0
		for _, m := range left {
			most = max(most, faults(m, left, spared))
		}
		if most == 0 {
			return out
		}
		worst := filter(left, func(m Member) bool { return faults(m, left, spared) == most })
		out = append(out, worst...)
		left = slices.DeleteFunc(left, func(m Member) bool { return slices.ContainsFunc(worst, m.same) })
	}
}

// faults returns to how many of others m has no link; for a spared member it returns 0.
func faults(m Member, others []Member, spared func(Member) bool) int {
	if spared(m) {
		return 0
	}
	return count(others, func(o Member) bool { return !m.same(o) && broken(m, o) })
}

func (m Member) same(o Member) bool {
	return m.Address == o.Address && m.Incarnation == o.Incarnation
}
