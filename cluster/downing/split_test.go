package downing

import (
	"slices"
	"strings"
	"time"
)

// parse reads a split as "A B* | C- D' E": one letter is a member's address, * gives it the
// role "r", ' is joining, - is leaving, + has been up for the shortest time; else A is the
// oldest. It returns the situation as the first member of the left side sees it: everybody
// there misses everybody on the right.
func parse(split string) Situation {
	left, right, _ := strings.Cut(split, "|")
	s := Situation{Stable: time.Hour}
	var observers []string
	for word := range strings.FieldsSeq(left) {
		m := parseMember(word)
		m.Self = len(observers) == 0
		observers = append(observers, m.Address)
		s.Members = append(s.Members, m)
	}
	for word := range strings.FieldsSeq(right) {
		m := parseMember(word)
		m.UnreachableBy = observers
		s.Members = append(s.Members, m)
	}
	slices.SortFunc(s.Members, func(a, b Member) int { return strings.Compare(a.Address, b.Address) })
	return s
}

func parseMember(word string) Member {
	m := Member{Name: word[:1], Address: word[:1], Incarnation: 1, Joining: strings.Contains(word, "'"), Leaving: strings.Contains(word, "-")}
	if !m.Joining {
		m.UpNumber = uint64(word[0] - 'A' + 1)
	}
	if strings.Contains(word, "+") {
		m.UpNumber += 100
	}
	if strings.Contains(word, "*") {
		m.Roles = []string{"r"}
	}
	return m
}

func downed(d Decision) string {
	var down []string
	for _, m := range d.Down {
		down = append(down, m.Address)
	}
	slices.Sort(down)
	return strings.Join(down, "")
}

// lacks makes pairs of members lack each other: "AB CD" breaks two links. With > between
// them only the first lacks the second.
func (s Situation) lacks(self string, pairs string) Situation {
	for i := range s.Members {
		m := &s.Members[i]
		m.Self = m.Address == self
		for pair := range strings.FieldsSeq(pairs) {
			a, b, oneWay := pair[:1], pair[len(pair)-1:], len(pair) == 3
			switch {
			case m.Address == b:
				m.UnreachableBy = append(m.UnreachableBy, a)
			case m.Address == a && !oneWay:
				m.UnreachableBy = append(m.UnreachableBy, b)
			}
		}
	}
	return s
}
