package cluster

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestABadElectionIsRefusedAtStart(t *testing.T) {
	panics := LeaderElection{Name: "panics", Compare: func(Member, Member) int { panic("no") }}
	undecided := LeaderElection{Name: "undecided", Compare: func(Member, Member) int { return 0 }}
	stubborn := LeaderElection{Name: "stubborn", Compare: func(Member, Member) int { return -1 }}
	for e, want := range map[*LeaderElection]string{
		&panics:    "Compare fails on ordinary members: panic",
		&undecided: "no strict order",
		&stubborn:  "no strict order",
		{Compare: func(Member, Member) int { return 0 }}: "no Name",
	} {
		_, err := Start(t.Context(), Config{Leader: *e})
		require.ErrorContains(t, err, want)
	}
}

func TestNumbersOfMembersAreNotNegative(t *testing.T) {
	for want, cfg := range map[string]Config{
		"Config.MinMembers is -1":            {MinMembers: -1},
		`Config.MinMembersOf["db"] is -2`:    {MinMembersOf: map[string]int{"db": -2}},
		`Config.MinMembersOf[""] is 1; name`: {MinMembersOf: map[string]int{"": 1}},
	} {
		_, err := Start(t.Context(), cfg)
		require.ErrorContains(t, err, want)
	}
}
