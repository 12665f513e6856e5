// Package postgres keeps the generations of singletons in a table of a PostgreSQL database.
//
// This package is experimental: a minor release may change it.
//
//	source, err := postgres.Open("postgres://understudy@db.example/app")
//	…
//	err = source.Migrate(ctx) // makes the table, if there is none
//
// # How it works
//
// A label is one row, which is never deleted: a singleton that is forgotten leaves its highest
// term. Each operation is one statement and a transaction of its own, so it is atomic, and no
// transaction is open between two requests. A claim locks its row until it has been committed:
// claims of one label wait for each other, claims of different labels do not. Terms and sequence
// numbers end at 2³²-1, by constraints of the table.
//
// A commit is on the server's disk before it is answered, whatever synchronous_commit is for the
// role or the database: "off" and "local" are raised to "on" for these transactions. A stronger
// setting is left alone.
//
// When an answer is lost, the statement may have been committed or not. A claim that is repeated
// then skips a term or a number.
//
// # Requirements
//
//   - PostgreSQL 12 or newer, on a server that accepts writes. With several addresses use
//     target_session_attrs=read-write.
//   - fsync=on, its default. Without it a crash of the server's machine may take back terms that
//     were claimed.
//   - A failover that loses no commit. With asynchronous replication the promoted replica may not
//     have the last claims: the same term may be granted twice, and no client can tell. Synchronous
//     replication (synchronous_standby_names) prevents that, as long as only a standby that was
//     synchronous is promoted and the former primary is off. Restoring a backup takes terms back in
//     the same way.
//   - READ COMMITTED, the default isolation level. Under a stricter one, concurrent claims fail.
//
// All of it works behind PgBouncer in session, transaction and statement pooling, because it uses
// nothing that belongs to a session: no prepared statement, no SET, no lock of a session.
//
// # Privileges
//
// A user of the source needs
//
//	GRANT USAGE ON SCHEMA public TO app;
//	GRANT SELECT, INSERT, UPDATE ON public.understudy_generation TO app;
//
// and no more once the table exists. [Source.DDL] returns the statement for a migration tool.
// [Source.Migrate] runs it, which needs the right to create a table.
package postgres
