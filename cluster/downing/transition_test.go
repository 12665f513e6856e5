package downing

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Nodes with a Transition are members beside nodes with one of its two strategies, never beside
// both. Whichever node decides on each side, two sides never both continue.
func TestNeverDoBothSidesGoOnDuringATransition(t *testing.T) {
	kinds := []string{"", "'", "-"}
	for _, tr := range []Transition{
		{From: StaticQuorum{Size: 2}, To: StaticQuorum{Size: 3}},
		{From: StaticQuorum{Size: 3}, To: KeepMajority{}},
		{From: KeepMajority{}, To: KeepOldest{}},
		{From: KeepReferee{Name: "B"}, To: KeepMajority{}},
		{From: KeepOldest{KeepAlone: true}, To: KeepReferee{Name: "C"}},
		{From: DownAll{}, To: KeepMajority{}},
		{From: KeepMajority{}, To: Manual{}},
	} {
		require.NoError(t, tr.Validate())
		size := 4
		if tr.From == (StaticQuorum{Size: 2}) {
			size = 3 // StaticQuorum does not allow more members
		}
		for _, other := range []Strategy{tr.From, tr.To, tr} {
			if other == (Manual{}) {
				continue // Manual leaves the decision to an operator
			}
			eachSplit(size, kinds, func(left, right []string) {
				requireNotBoth(t, tr, other, left, right)
				requireNotBoth(t, other, tr, left, right)
			})
		}
	}
}

func requireNotBoth(t *testing.T, ofLeft, ofRight Strategy, left, right []string) {
	t.Helper()
	if !goesOn(ofLeft, left, right) {
		return
	}
	for _, view := range advanced(right) {
		if goesOn(ofRight, view, left) {
			require.Fail(t, "two sides", "%v of %v and %v of %v both go on", left, ofLeft, view, ofRight)
		}
	}
}

// goesOn reports whether a side takes the other one down.
func goesOn(s Strategy, here, there []string) bool {
	if len(here) == 0 {
		return false
	}
	d := s.Decide(parse(strings.Join(here, " ") + " | " + strings.Join(there, " ")))
	return len(d.Down) > 0 && !strings.Contains(downed(d), here[0][:1])
}

func TestATransitionNeedsBothStrategiesToGoOn(t *testing.T) {
	tr := Transition{From: KeepMajority{}, To: KeepReferee{Name: "A"}}
	requireRows(t, tr, []row{
		{"both go on", "A B | C", "C"},
		{"both yield", "C | A B", "C"},
		{"only one goes on", "B C | A", "BC"},
		{"only the other goes on", "A | B C", "A"},
		{"nobody is unreachable", "A B C", ""},
	})
	require.Equal(t, "BC", downed(tr.Decide(parse("A B C D").lacks("A", "BC"))), "broken links")
	waiting := parse("A B | C")
	waiting.Stable = 4 * time.Second
	require.Empty(t, Transition{From: KeepMajority{}, To: KeepMajority{StableAfter: 5 * time.Second}}.Decide(waiting).Down)
	require.Equal(t, "C", downed(Transition{From: KeepMajority{}, To: Manual{}}.Decide(parse("C | A B"))))
	require.Empty(t, Transition{From: KeepMajority{}, To: Manual{}}.Decide(parse("A B | C")).Down)
}

func TestATransitionHasTheLongerTimes(t *testing.T) {
	tr := Transition{From: KeepMajority{}, To: StaticQuorum{Size: 2, StableAfter: 10 * time.Second}}
	require.Equal(t, 10*time.Second, tr.Delay())
	require.Zero(t, tr.Skew())
	require.Equal(t, []string{KeepMajority{}.String(), tr.To.String()}, Names(tr))
	require.Equal(t, []string{"manual"}, Names(Manual{}))
	require.Equal(t, "transition(from=manual, to=down-all(stable-after=3s, keep-unstable=false))", Transition{From: Manual{}, To: DownAll{}}.String())
	require.Negative(t, Transition{From: KeepMajority{}, To: Manual{}}.Delay())
}

func TestATransitionSaysWhatIsWrong(t *testing.T) {
	for want, tr := range map[string]Transition{
		"must both be set":       {From: Manual{}},
		"use it alone":           {From: Manual{}, To: Manual{}},
		"stop all nodes":         {From: Manual{}, To: LeaseMajority{Lease: someLease{}}},
		"complete one change":    {From: Manual{}, To: Transition{From: Manual{}, To: DownAll{}}},
		"StaticQuorum.Size must": {From: Manual{}, To: StaticQuorum{}},
	} {
		require.ErrorContains(t, tr.Validate(), want)
	}
}
