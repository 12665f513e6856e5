package main

import "context"

// An opponent is a way to have one leader.
type opponent struct {
	name     string // of its database, with - for _
	title    string
	settings string // in one sentence, for the table
	ledger   string // which starter makes its nodes
	pooler   string // pool_mode of the PgBouncer between its nodes and the server, "" for none
	schema   string // the table of the ledger, "" for none
}

// plainTable is a table that takes whatever a leader writes, so that the check sees it. The place
// of a row is the order in which the rows were inserted.
const plainTable = `CREATE TABLE ledger (
	place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	at timestamptz NOT NULL DEFAULT clock_timestamp(),
	number bigint NOT NULL,
	request text NOT NULL,
	leader text NOT NULL
);
CREATE INDEX ON ledger (number)`

// The ledgers that nodes can have.
const (
	byLease     = "lease"
	byLock      = "lock"
	bySingleton = "singleton"
)

// starters start the ledger of a node.
var starters = map[string]func(context.Context, nodeConfig) (ledger, error){
	byLease:     startLease,
	byLock:      startLock,
	bySingleton: startSingleton,
}

var opponents = []opponent{
	{
		name: "client-go", title: "client-go Lease", ledger: byLease, schema: plainTable,
		settings: "LeaseDuration 15 s, RenewDeadline 10 s, RetryPeriod 2 s, ReleaseOnCancel",
	},
	{
		name: "lock", title: "advisory lock", ledger: byLock, schema: plainTable,
		settings: "`pg_try_advisory_lock` each second on a connection of its own",
	},
	{
		name: "lock-pgbouncer", title: "advisory lock, PgBouncer", ledger: byLock, schema: plainTable, pooler: "session",
		settings: "the same through PgBouncer with `pool_mode=session`",
	},
	{
		name: "lock-transaction", title: "advisory lock, PgBouncer by transaction", ledger: byLock, schema: plainTable, pooler: "transaction",
		settings: "the same through PgBouncer with `pool_mode=transaction`, which does not support session locks",
	},
	{
		name: "understudy", title: "Understudy", ledger: bySingleton,
		settings: "an event-sourced singleton, journal in the same PostgreSQL, every setting at its default",
	},
}
