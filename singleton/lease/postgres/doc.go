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
// A name is one row, which is never deleted. The server's clock alone judges whether a
// lease has expired: clock_timestamp(), read after the row has been locked. Each operation
// is one statement and a transaction of its own, so it is a compare-and-set, and none is
// in progress between two requests. Every acquisition has the token
// greatest(token, floor) + 1, and a release leaves the token where it is.
//
// A commit is on the server's disk before it is answered, whatever synchronous_commit is
// for the role or the database: "off" and "local" are raised to "on" for these
// transactions. A stronger setting is left alone.
//
// # What it needs of the server
//
//   - PostgreSQL 12 or newer, at a server that takes writes. Behind several addresses use
//     target_session_attrs=read-write.
//   - A clock that is slewed, not stepped: what jumps ahead makes leases expire early by as
//     much. See [lease.Settings] for clocks that run at different rates.
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
// Everything works behind PgBouncer in any of its pool modes, transaction and statement
// included, as nothing lives in a session: no prepared statement, no SET, no advisory lock
// and no LISTEN. A pooler whose server connections are all taken makes requests wait:
// leases are lost when that takes longer than they last.
//
// An advisory lock would be no lease anyway. It belongs to a session, and a session lives
// until the server notices that its client is gone: a client that is stopped, or whose
// machine has vanished without a word, keeps it for minutes to hours. It has no token, and
// behind a pooler the session is somebody else's.
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
