// Package postgres keeps the generations of managed singletons in a table of a PostgreSQL
// database.
//
//	source, err := postgres.Open("postgres://understudy@db.example/app")
//	…
//	err = source.Migrate(ctx) // makes the table, if there is none
//
// # How it is kept
//
// A label is one row, which is never deleted: a singleton that is forgotten leaves its
// highest term. Each operation is one statement and a transaction of its own, so it happens
// at one moment, and none is in progress between two requests. A claim locks its row until it
// has been committed, so those of one label wait for each other, those of others do not.
// Terms and numbers end at 2³²-1, by constraints of the table.
//
// A commit is on the server's disk before it is answered, whatever synchronous_commit is
// for the role or the database: "off" and "local" are raised to "on" for these
// transactions. A stronger setting is left alone.
//
// When an answer is lost nobody knows whether the statement was committed. A claim that is
// repeated then leaves a term or a number out.
//
// # What it needs of the server
//
//   - PostgreSQL 12 or newer, at a server that takes writes. Behind several addresses use
//     target_session_attrs=read-write.
//   - fsync=on, its default. Without it a crash of the server's machine may take back terms
//     that were claimed.
//   - A failover that loses no commit. With asynchronous replication the replica that is
//     promoted may not know the last claims: the same term may be granted twice, and no client
//     can tell. Synchronous replication (synchronous_standby_names) prevents it, as long as
//     only a standby that was synchronous is promoted and the former primary is off.
//     Restoring a backup takes terms back in the same way.
//   - READ COMMITTED, the default isolation. Under a stricter one, claims that meet fail.
//
// Everything works behind PgBouncer in any of its pool modes, transaction and statement
// included, as nothing lives in a session: no prepared statement, no SET, no advisory lock.
//
// # Privileges
//
// A user of the source needs
//
//	GRANT USAGE ON SCHEMA public TO app;
//	GRANT SELECT, INSERT, UPDATE ON public.understudy_generation TO app;
//
// and no more once the table is there. [Source.DDL] returns the statements for a migration
// tool; [Source.Migrate] runs them, which needs the right to create a table.
package postgres
