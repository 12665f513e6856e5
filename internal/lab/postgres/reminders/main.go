// Command reminders is examples/reminders with its journal in PostgreSQL: reminders that are set on
// three processes are delivered although one of the processes is killed.
//
//	go -C internal/lab/postgres run ./reminders -journal postgres://user@host/db
//
// The tables are in a separate schema, understudy_reminders, which the program creates if it does
// not exist. Each run has customers of its own. The events of a run stay;
//
//	DROP SCHEMA understudy_reminders CASCADE
//
// removes them. Without -journal, the journal is SQLite in a temporary directory.
package main

import (
	"github.com/understudy-go/understudy/internal/lab/postgres"
	"github.com/understudy-go/understudy/internal/lab/reminders"
)

func main() { reminders.Main(postgres.Openers("understudy_reminders")) }
