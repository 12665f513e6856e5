// Command carts is examples/carts with its journal in PostgreSQL: carts that are sharded over three
// processes keep all items while one of the processes is killed.
//
//	go -C internal/lab/postgres run ./carts -journal postgres://user@host/db
//
// The tables are in a separate schema, understudy_carts, which the program creates if it does not
// exist. Each run has carts of its own. The events of a run stay;
//
//	DROP SCHEMA understudy_carts CASCADE
//
// removes them. Without -journal, the journal is SQLite in a temporary directory.
package main

import (
	"github.com/understudy-go/understudy/internal/lab/carts"
	"github.com/understudy-go/understudy/internal/lab/postgres"
)

func main() { carts.Main(postgres.Openers("understudy_carts")) }
