// Command failover is examples/failover with its journal in PostgreSQL: a counter in a
// cluster of three processes keeps its count while its host is killed, again and again.
//
//	go -C internal/lab/postgres run ./failover -journal postgres://user@host/db
//
// The tables are in a separate schema, understudy_failover, which the program creates if it does
// not exist. Each run counts under a new persistence id, so any number of runs may use the
// database, also at the same time. The events of a run stay;
//
//	DROP SCHEMA understudy_failover CASCADE
//
// removes them. Everything else is as in examples/failover: -pause, and without -journal an SQLite
// database in a temporary directory.
package main

import (
	"github.com/understudy-go/understudy/internal/lab/failover"
	"github.com/understudy-go/understudy/internal/lab/postgres"
)

func main() { failover.Main(postgres.Openers("understudy_failover")) }
