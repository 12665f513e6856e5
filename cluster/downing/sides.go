package downing

import (
	"cmp"
	"slices"
)

// Split returns the members that the decider is connected to, directly or through others,
// itself included, and the others. A link counts when one end observes the other, and
// neither lacks the other. Links are followed from who observes, for only what those say
// is news that the decider can hear.
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

// broken reports whether one of two members lacks the other.
func broken(a, b Member) bool {
	return slices.Contains(a.UnreachableBy, b.Address) || slices.Contains(b.UnreachableBy, a.Address)
}

// nobody is spared.
func nobody(Member) bool { return false }

// unlinked returns the members of one side that must go so that all that stay have links
// to each other: again and again the one that lacks most, of equal ones the youngest. A
// spared member stays; there is at most one, and whoever lacks it goes.
func unlinked(side []Member, spared func(Member) bool) []Member {
	var out []Member
	left := slices.Clone(side)
	for {
		worst := slices.MaxFunc(left, func(a, b Member) int {
			return cmp.Or(
				cmp.Compare(faults(a, left, spared), faults(b, left, spared)),
				cmp.Compare(a.UpNumber-1, b.UpNumber-1), // those without a number are the youngest
				cmp.Compare(a.Address, b.Address),
			)
		})
		if faults(worst, left, spared) == 0 {
			return out
		}
		out = append(out, worst)
		left = slices.DeleteFunc(left, worst.same)
	}
}

// faults returns to how many of others m has no link; none are held against who is spared.
func faults(m Member, others []Member, spared func(Member) bool) int {
	if spared(m) {
		return 0
	}
	n := 0
	for _, o := range others {
		if !m.same(o) && broken(m, o) {
			n++
		}
	}
	return n
}

func (m Member) same(o Member) bool {
	return m.Address == o.Address && m.Incarnation == o.Incarnation
}
