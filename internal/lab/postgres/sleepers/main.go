// Command sleepers lets a million runs of a workflow sleep on three processes, which share two
// cores, and wakes them all at once. It prints how fast they begin and wake, and the memory that
// they need. While they wake, a process is killed. With -kills it then kills a process so often
// whose runs are in the middle of steps, and prints when these go on elsewhere.
//
//	go -C internal/lab/postgres run ./sleepers [-runs 1000000] [-kills 5] [-journal postgres://user@host/db]
//
// The tables are in a separate schema, understudy_sleepers, which the program creates if it does
// not exist. Runs have the same ids each time, so
//
//	DROP SCHEMA understudy_sleepers CASCADE
//
// before the next time. Without -journal, the journal is SQLite in a temporary directory.
package main

import (
	"github.com/understudy-go/understudy/internal/lab/postgres"
	"github.com/understudy-go/understudy/internal/lab/sleepers"
)

func main() { sleepers.Main(postgres.Openers("understudy_sleepers")) }
