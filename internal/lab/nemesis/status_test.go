package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// peace has the reports of two nodes in a settled cluster.
func peace() []Status {
	members := []string{"10.77.0.1:7355#a up", "10.77.0.2:7355#b up"}
	return []Status{
		{Node: "n1", Members: members, Up: 2, Converged: true, Leader: "n1", Ledger: true, Register: true, Leased: true, Shards: 1},
		{Node: "n2", Members: members, Up: 2, Converged: true, Leader: "n1", Ticker: true, Shards: 2},
	}
}

func TestAClusterHasSettledWhenAllNodesSayTheSame(t *testing.T) {
	require.Empty(t, unsettled(2, 3, peace()))
}

func TestWhatIsNotAsItMustBeIsNamed(t *testing.T) {
	for want, change := range map[string]func([]Status){
		"n2 knows of 2 members, 1 of them up":                                              func(s []Status) { s[1].Up = 1 },
		"n2 takes 1 members for unreachable":                                               func(s []Status) { s[1].Unreachable = 1 },
		"n1 does not see the others agree":                                                 func(s []Status) { s[0].Converged = false },
		"n1 and n2 know different members":                                                 func(s []Status) { s[1].Members = []string{"x up", "y up"} },
		`the leader is "n1" for n1 and "n2" for n2`:                                        func(s []Status) { s[1].Leader = "n2" },
		"2 nodes run the ledger, 1 the register, 1 the ticker, and 1 the one with a lease": func(s []Status) { s[1].Ledger = true },
		"1 nodes run the ledger, 0 the register, 1 the ticker, and 1 the one with a lease": func(s []Status) { s[0].Register = false },
		"1 the ticker, and 0 the one with a lease":                                         func(s []Status) { s[0].Leased = false },
		"2 shards of lists run, of 3":                                                      func(s []Status) { s[1].Shards = 1 },
		"1 nodes run the ledger, 1 the register, 0 the ticker, and":                        func(s []Status) { s[1].Ticker = false },
		"n1 knows of 3 members, 2 of them up: [a up b up a former down]":                   func(s []Status) { s[0].Members = []string{"a up", "b up", "a former down"} },
	} {
		said := peace()
		change(said)
		require.Contains(t, unsettled(2, 3, said), want)
	}
	require.Equal(t, "2 of 3 nodes answer", unsettled(3, 3, peace()))
}
