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
		"Config.MinMembers is -1":                           {MinMembers: -1},
		"Config.MinSeeds is 3, but it belongs to Discovery": {MinSeeds: 3},
		"Config.MinSeeds is -1; set it":                     {MinSeeds: -1, Discovery: &DNS{Host: "x", Port: 1}},
		`Config.MinMembersOf["db"] is -2`:                   {MinMembersOf: map[string]int{"db": -2}},
		`Config.MinMembersOf[""] is 1; name`:                {MinMembersOf: map[string]int{"": 1}},
		"Config.KeepDeadLetters is -1; it counts messages":  {KeepDeadLetters: -1},
		"Config.KeepDeadLetters is 10001; it counts":        {KeepDeadLetters: 10_001},
	} {
		_, err := Start(t.Context(), cfg)
		require.ErrorContains(t, err, want)
	}
}

func TestAnAddressThatLeadsToNoOtherMachineIsRefused(t *testing.T) {
	for advertise, want := range map[string]string{
		"0.0.0.0:7355": "it has the host 0.0.0.0, which stands for all interfaces",
		"[::]:7355":    "it has the host ::, which stands for all interfaces",
		":7355":        "it has no host",
	} {
		_, err := Start(t.Context(), Config{Bind: "127.0.0.1:0", Advertise: advertise})
		require.ErrorContains(t, err, `cluster: Config.Advertise: "`+advertise+`" is not an address at which others reach this node: `+want)
	}
	for seed, want := range map[string]string{
		"0.0.0.0:7355":  "it has the host 0.0.0.0",
		"127.0.0.1:0":   "it has the port 0, at which no node listens",
		"shop.internal": "it is not a host:port",
	} {
		_, err := Start(t.Context(), Config{Seeds: []string{seed}})
		require.ErrorContains(t, err, `cluster: Config.Seeds: "`+seed+`" is not the host:port of a node: `+want)
	}
	_, err := Start(t.Context(), Config{Bind: "0.0.0.0:0"})
	require.ErrorContains(t, err, "Config.Advertise is required, as Config.Bind names no single interface")
}
