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

// unlinked returns the members of one side that must go so that all that stay have links
// to each other: again and again the one that lacks most, of equal ones the youngest.
func unlinked(side []Member) []Member {
	var out []Member
	left := slices.Clone(side)
	for {
		worst := slices.MaxFunc(left, func(a, b Member) int {
			return cmp.Or(
				cmp.Compare(lacking(a, left), lacking(b, left)),
				cmp.Compare(a.UpNumber-1, b.UpNumber-1), // those without a number are the youngest
				cmp.Compare(a.Address, b.Address),
			)
		})
		if lacking(worst, left) == 0 {
			return out
		}
		out = append(out, worst)
		left = slices.DeleteFunc(left, worst.same)
	}
}

// lacking returns to how many of others m has no link.
func lacking(m Member, others []Member) int {
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
