package downing

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// parse reads a split as "A B* | C- D' E": one letter is a member's address, * gives it the
// role "r", ' is joining, - is leaving. It returns the situation as the first member of
// the left side sees it: everybody there misses everybody on the right.
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
	m := Member{Address: word[:1], Incarnation: 1, Joining: strings.Contains(word, "'"), Leaving: strings.Contains(word, "-")}
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

func TestKeepMajorityKeepsOneSide(t *testing.T) {
	for _, tt := range []struct{ split, role, down string }{
		{split: "A C E | B D", down: "BD"},
		{split: "B D | A C E", down: "BD"},
		{split: "A B | C D", down: "CD"},
		{split: "C D | A B", down: "CD"},
		{split: "A | B", down: "B"},
		{split: "B | A", down: "B"},
		{split: "A B C", down: ""},
		{split: "A* B* | C D* E", role: "r", down: "CDE"},
		{split: "C D* E | A* B*", role: "r", down: "CDE"},
		{split: "A B | C D E", role: "r", down: "AB"},
		{split: "C D E | A B", role: "r", down: "CDE"},
		{split: "A B | C D E F'", down: "AB"},
		{split: "C D E F' | A B", down: "AB"},
		{split: "A' | B C", down: "A"},
		{split: "B C | A'", down: "A"},
		{split: "A | B'", down: "B"},
	} {
		require.Equal(t, tt.down, downed(KeepMajority{Role: tt.role}.Decide(parse(tt.split))), "%s, role %q", tt.split, tt.role)
	}
}

func TestKeepMajorityReckonsWithPromotionsOnTheOtherSide(t *testing.T) {
	require.Equal(t, "CDE", downed(KeepMajority{}.Decide(parse("C D E | A B F'"))), "A B F would win as three of six")
	require.Equal(t, "CD", downed(KeepMajority{}.Decide(parse("A B F | C D"))))
	require.Equal(t, "ABF", downed(KeepMajority{}.Decide(parse("A B F' | C D E"))))
	require.Equal(t, "BCD", downed(KeepMajority{}.Decide(parse("B C- D | A E"))), "without C it is two against two, and A wins")
}

// Whatever one side has seen of joining and leaving that the other has not, never both go on.
func TestKeepMajorityNeverKeepsBothSides(t *testing.T) {
	kinds := []string{"", "'", "-"}
	names := "ABCDEF"
	var each func(prefix []string, f func([]string))
	each = func(prefix []string, f func([]string)) {
		if len(prefix) == len(names) {
			f(prefix)
			return
		}
		for _, k := range kinds {
			each(append(slices.Clone(prefix), names[len(prefix):len(prefix)+1]+k), f)
		}
	}
	survives := func(here, there []string) bool {
		if len(here) == 0 {
			return false
		}
		s := parse(strings.Join(here, " ") + " | " + strings.Join(there, " "))
		down := downed(KeepMajority{}.Decide(s))
		return !strings.Contains(down, here[0][:1])
	}
	// advanced is how a side sees its own members: one of those that the other side sees
	// joining may have been promoted, one that it sees leaving may have been removed.
	advanced := func(side []string) [][]string {
		views := [][]string{side}
		for i, w := range side {
			switch {
			case strings.HasSuffix(w, "'"):
				up := slices.Clone(side)
				up[i] = w[:1]
				views = append(views, up)
			case strings.HasSuffix(w, "-"):
				views = append(views, slices.Delete(slices.Clone(side), i, i+1))
			}
		}
		return views
	}
	each(nil, func(members []string) {
		for split := 1; split < 1<<len(members)-1; split++ {
			var left, right []string
			for i, m := range members {
				if split&(1<<i) != 0 {
					left = append(left, m)
				} else {
					right = append(right, m)
				}
			}
			if !survives(left, right) {
				continue
			}
			for _, view := range advanced(right) {
				require.False(t, survives(view, left), "%v and %v both go on", left, view)
			}
		}
	})
}

func TestKeepMajorityWaitsUntilTheSituationIsStable(t *testing.T) {
	s := parse("A | B")
	s.Stable = DefaultStableAfter - 1
	require.Empty(t, KeepMajority{}.Decide(s).Down)
	s.Stable = DefaultStableAfter
	require.NotEmpty(t, KeepMajority{}.Decide(s).Down)
	require.Empty(t, KeepMajority{StableAfter: time.Minute}.Decide(s).Down)
}

// lacks makes pairs of members lack each other: "AB CD" breaks two links. With > between
// them only the first lacks the second.
func (s Situation) lacks(self string, pairs string) Situation {
	for i := range s.Members {
		m := &s.Members[i]
		m.Self, m.UpNumber = m.Address == self, uint64(i+1)
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

func TestKeepMajorityDownsFewWhenLinksAreBroken(t *testing.T) {
	for _, tt := range []struct{ members, pairs, down string }{
		{"A B C", "AB", "B"},
		{"A B C", "A>B", "B"},
		{"A B C", "B>A", "B"},
		{"A B C D", "AB AC", "A"},
		{"A B C D E", "AB CD", "BD"},
		{"A B C D E", "AB BC CA", "BC"},
	} {
		for self := range strings.FieldsSeq(tt.members) {
			require.Equal(t, tt.down, downed(KeepMajority{}.Decide(parse(tt.members).lacks(self, tt.pairs))), "%s, broken %s, decided by %s", tt.members, tt.pairs, self)
		}
	}
}

func TestKeepMajorityTakesAOneWayCutForASplit(t *testing.T) {
	const cut = "A>C A>D A>E B>C B>D B>E"
	for _, self := range []string{"A", "B", "C", "D", "E"} {
		require.Equal(t, "AB", downed(KeepMajority{}.Decide(parse("A B C D E").lacks(self, cut))), "decided by %s", self)
	}
}

func TestKeepMajorityIsNotConfusedByOneWhoWasLostBefore(t *testing.T) {
	s := parse("A B C | D E F G")
	for i := range s.Members {
		if s.Members[i].Address == "G" {
			s.Members[i].UnreachableBy = []string{"A", "B", "C", "D", "E", "F"}
		}
	}
	require.Equal(t, "ABC", downed(KeepMajority{}.Decide(s)))
}

func TestManualDowningNeverDecides(t *testing.T) {
	require.Empty(t, Manual{}.Decide(parse("A B C | D")).Down)
	require.Negative(t, Manual{}.Delay())
	require.Equal(t, "manual", Manual{}.String())
}

func TestStrategiesNameTheirParameters(t *testing.T) {
	require.Equal(t, KeepMajority{}.String(), KeepMajority{StableAfter: DefaultStableAfter}.String())
	require.NotEqual(t, KeepMajority{}.String(), KeepMajority{Role: "r"}.String())
}
