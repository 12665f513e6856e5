// Command effects makes effects outside of a cluster of three processes, while faults strike, and
// proves that each was made once.
//
//	make effects N=1000000
//	go -C internal/lab/postgres run ./effects -effects 1000000
//
// A process of its own, the sink, makes the effects. It has a ledger in an SQLite database. Nodes
// are stopped with SIGSTOP, killed, cut off from one another and restarted one by one. Meanwhile
// the sink is killed, its connections break, and its answers are lost. In the end the program
// reads the ledger and the journal. The exit status is 0 only if each effect was made once, none
// by a process that was replaced, and each step of each run has one outcome.
//
// The journal is SQLite in a temporary directory. -journal takes the path of another one, or
// postgres://user@host/db. There the tables are in the schema understudy_effects, and stay;
//
//	DROP SCHEMA understudy_effects CASCADE
//
// removes them. -h lists the other flags.
package main

import (
	"github.com/understudy-go/understudy/internal/lab/effects"
	"github.com/understudy-go/understudy/internal/lab/postgres"
)

func main() { effects.Main(postgres.Openers("understudy_effects")) }
