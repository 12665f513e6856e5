// Command orders is examples/orders with its journal in PostgreSQL: orders that are fulfilled on
// three processes are charged once, whatever happens to the processes.
//
//	go -C internal/lab/postgres run ./orders -journal postgres://user@host/db
//
// The tables are in a separate schema, understudy_orders, which the program creates if it does not
// exist. Each run has orders of its own. The events of a run stay;
//
//	DROP SCHEMA understudy_orders CASCADE
//
// removes them. Without -journal, the journal is SQLite in a temporary directory.
package main

import (
	"github.com/understudy-go/understudy/internal/lab/orders"
	"github.com/understudy-go/understudy/internal/lab/postgres"
)

func main() { orders.Main(postgres.Openers("understudy_orders")) }
