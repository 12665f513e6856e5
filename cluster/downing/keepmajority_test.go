package downing

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

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

func TestKeepMajorityWaitsUntilTheSituationIsStable(t *testing.T) {
	s := parse("A | B")
	s.Stable = DefaultStableAfter - 1
	require.Empty(t, KeepMajority{}.Decide(s).Down)
	s.Stable = DefaultStableAfter
	require.NotEmpty(t, KeepMajority{}.Decide(s).Down)
	require.Empty(t, KeepMajority{StableAfter: time.Minute}.Decide(s).Down)
}

func TestKeepMajorityDownsThoseWhoseLinksAreBroken(t *testing.T) {
	for _, tt := range []struct{ members, pairs, down string }{
		{"A B C", "AB", "AB"},
		{"A B C", "A>B", "AB"},
		{"A B C", "B>A", "AB"},
		{"A B C D", "AB AC", "A"},
		{"A B C D E", "AB AC AD", "A"},
		{"A B C D E", "AB CD", "ABCD"},
		{"A B C D E", "AB BC CA", "ABC"},
		{"A B C D E", "AB BC CD", "BC"},
		{"A B C D", "AB BC CD DA", "BD"}, // the rule would leave no member
		{"A B C' D", "AC", "C"},
		{"A B' C' D", "BC", "C"},
		{"A B- C D", "AB", "B"},
		{"A B C' D", "AC AB", "ABC"},
	} {
		for self := range strings.FieldsSeq(tt.members) {
			require.Equal(t, tt.down, downed(KeepMajority{}.Decide(parse(tt.members).lacks(self[:1], tt.pairs))), "%s, broken %s, decided by %s", tt.members, tt.pairs, self)
		}
	}
}

// Members with broken links to each other count for their side of a split.
func TestKeepMajorityCountsMembersWithBrokenLinks(t *testing.T) {
	for _, tt := range []struct{ split, pairs, down string }{
		{"A B C | D", "AB", "ABD"},
		{"A B C | D E", "AB", "ABDE"},
		{"A B C D | E F", "AB", "ABEF"},
		{"A B C | D E", "AC", "ACDE"},
		{"C D E | A B", "CD", "ABCD"},
		{"A B C | D E F G", "AB", "ABC"},
	} {
		s := parse(tt.split)
		self, _, _ := strings.Cut(tt.split, " ")
		require.Equal(t, tt.down, downed(KeepMajority{}.Decide(s.lacks(self, tt.pairs))), "%s, broken %s", tt.split, tt.pairs)
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
