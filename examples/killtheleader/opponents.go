package main

import "context"

// An opponent is a way to have one leader.
type opponent struct {
	name   string // of its database, with - for _
	title  string
	ledger string // which starter makes its nodes
	pooler string // pool_mode of the PgBouncer between its nodes and the server, "" for none
	schema string // the table of the ledger, "" for none
	strict bool   // see nodeConfig.Strict
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

// uniqueTable is a table that refuses duplicates. It is the fence that this ledger can have without
// a library.
const uniqueTable = plainTable + `;
CREATE UNIQUE INDEX ON ledger (number)`

// The ledgers that nodes can have.
const (
	byLease     = "lease"
	byLock      = "lock"
	bySingleton = "singleton"
)

// starters start the ledger of a node. The build tag noclientgo leaves out byLease: client-go takes
// the compiler minutes.
var starters = map[string]func(context.Context, nodeConfig) (ledger, error){
	byLock:      startLock,
	bySingleton: startSingleton,
}

var opponents = []opponent{
	{
		name: "client-go", title: "client-go Lease", ledger: byLease, schema: plainTable,
	},
	{
		name: "client-go-unique", title: "client-go Lease, unique numbers", ledger: byLease, schema: uniqueTable,
	},
	{
		name: "client-go-checked", title: "client-go Lease, age checked", ledger: byLease, schema: plainTable, strict: true,
	},
	{
		name: "lock", title: "advisory lock", ledger: byLock, schema: plainTable,
	},
	{
		name: "lock-idle", title: "advisory lock, idle timeout", ledger: byLock, schema: plainTable, strict: true,
	},
	{
		name: "lock-pgbouncer", title: "advisory lock, PgBouncer", ledger: byLock, schema: plainTable, pooler: "session",
	},
	{
		name: "lock-transaction", title: "advisory lock, PgBouncer by transaction", ledger: byLock, schema: plainTable, pooler: "transaction",
	},
	{
		name: "understudy", title: "Understudy", ledger: bySingleton,
	},
}
