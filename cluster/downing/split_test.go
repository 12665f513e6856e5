package downing

import (
	"slices"
	"strings"
	"time"
)

// parse reads a split such as "A B* | C- D' E". One letter is the address of a member. A letter
// may have marks: * gives the member the role "r", ' means joining, and - means leaving. The
// first letter is the oldest, unless + makes it the youngest.
//
// The situation is as the first member of the left side sees it: all members there miss all
// members on the right.
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

// lacks breaks the links of pairs of members: "AB CD" breaks two links. With > between two
// members, only the first does not hear from the second.
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
