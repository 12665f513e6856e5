// Package postgres keeps leases in a table of a PostgreSQL database, and hands out
// generations of singletons from the same rows.
//
//	store, err := postgres.Open("postgres://understudy@db.example/app")
//	…
//	err = store.Migrate(ctx) // makes the table, if there is none
//	l, err := lease.New(store, "GlobalCounter", "node-1", lease.Settings{})
//
// # How a lease is kept
//
// A name is one row, which is never deleted. Only the server's clock decides whether a lease has
// expired: clock_timestamp(), read after the row is locked. Each operation is one statement in a
// transaction of its own, a compare-and-set; no transaction is open between two requests. Every
// acquisition gets the token greatest(token, floor) + 1, and a release keeps the token.
//
// A commit is on the server's disk before it is answered, whatever synchronous_commit is for the
// role or the database: "off" and "local" are raised to "on" for these transactions. A stronger
// setting stays.
//
// # Requirements
//
//   - PostgreSQL 12 or newer, on a server that accepts writes. With several addresses use
//     target_session_attrs=read-write.
//   - A clock that is slewed, not stepped: a jump ahead makes leases expire early by as much. See
//     [lease.Settings] for clocks that run at different rates.
//   - fsync=on, its default. Without it a crash of the server's machine may take back
//     leases and tokens that were granted.
//   - A failover that loses no commit. With asynchronous replication the replica that is
//     promoted may not know the last grants: the same name may be granted twice, with the
//     same token twice, and no client can tell. Synchronous replication
//     (synchronous_standby_names) prevents it, as long as only a standby that was
//     synchronous is promoted and the former primary is off. Restoring a backup takes
//     tokens back in the same way.
//
// # Connection poolers
//
// The store works behind PgBouncer in each of its pool modes, transaction and statement included.
// It keeps nothing in a session: no prepared statement, no SET, no advisory lock and no LISTEN.
// When all server connections of a pooler are taken, requests wait; a lease is lost when they wait
// longer than its TTL.
//
// An advisory lock would not be a lease. It belongs to a session, which lives until the server
// notices that its client is gone: minutes to hours after a process was stopped or a machine
// vanished. It also has no token, and behind a pooler the session serves other clients.
//
// # Privileges
//
// A user of the store needs
//
//	GRANT USAGE ON SCHEMA public TO app;
//	GRANT SELECT, INSERT, UPDATE ON public.understudy_lease TO app;
//
// and no more once the table is there. [Store.DDL] returns the statements for a migration
// tool; [Store.Migrate] runs them, which needs the right to create a table.
package postgres
