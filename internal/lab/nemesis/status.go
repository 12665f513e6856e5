package main

import (
	"fmt"
	"slices"
)

// A Status is a node's report about itself and the cluster.
type Status struct {
	Node        string
	Incarnation uint64
	Members     []string // that have not been removed: address, incarnation, status
	Up          int      // how many of them are up
	Unreachable int
	Converged   bool
	Leader      string
	Ledger      bool // its instance runs here
	Register    bool // its instance runs here
	Ticker      bool // its instance runs here
	Leased      bool // the instance with a lease runs here
	Shards      int  // of lists, that run here
}

// unsettled says what is missing until the cluster has settled, or "". A settled cluster has all
// nodes, all up, with the same view, and one instance of each singleton and of each shard of lists.
func unsettled(nodes, shards int, said []Status) string {
	if len(said) != nodes {
		return fmt.Sprintf("%d of %d nodes answer", len(said), nodes)
	}
	var ledgers, registers, tickers, leased, lists int
	for _, s := range said {
		switch first := said[0]; {
		case s.Up != nodes || len(s.Members) != nodes:
			return fmt.Sprintf("%s knows of %d members, %d of them up: %v", s.Node, len(s.Members), s.Up, s.Members)
		case s.Unreachable > 0:
			return fmt.Sprintf("%s takes %d members for unreachable", s.Node, s.Unreachable)
		case !s.Converged:
			return s.Node + " does not see the others agree"
		case !slices.Equal(s.Members, first.Members):
			return fmt.Sprintf("%s and %s know different members: %v, %v", first.Node, s.Node, first.Members, s.Members)
		case s.Leader != first.Leader:
			return fmt.Sprintf("the leader is %q for %s and %q for %s", first.Leader, first.Node, s.Leader, s.Node)
		}
		lists += s.Shards
		if s.Ledger {
			ledgers++
		}
		if s.Register {
			registers++
		}
		if s.Ticker {
			tickers++
		}
		if s.Leased {
			leased++
		}
	}
	if ledgers != 1 || registers != 1 || tickers != 1 || leased != 1 {
		return fmt.Sprintf("%d nodes run the ledger, %d the register, %d the ticker, and %d the one with a lease",
			ledgers, registers, tickers, leased)
	}
	if lists != shards {
		return fmt.Sprintf("%d shards of lists run, of %d", lists, shards)
	}
	return ""
}
