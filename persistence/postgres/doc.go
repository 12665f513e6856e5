// Package postgres keeps events, snapshots, timers and leases in tables of a PostgreSQL database,
// for programs that run on more than one machine. Any number of processes may share a journal.
//
//	journal, err := postgres.Open(ctx, "postgres://understudy@db.example/app")
//	leases, err := postgres.OpenLeases("postgres://understudy@db.example/app")
//
// # Guarantees
//
//   - An acknowledged append is on the disk of the server, whatever
//     synchronous_commit is for the role or the database: "off" and "local" are raised to
//     "on" for these transactions, and a stronger setting is left alone. [ProcessSafe]
//     gives that up for speed.
//   - Each claim, append, deletion and snapshot is one statement in its own transaction, also an
//     append that changes timers. It is stored completely or not at all, on the condition that its
//     epoch is the newest. A claim
//     fences the writers of all other processes. No transaction is open between two requests, so a
//     process that is stopped or partitioned holds no lock.
//   - Damaged data is never delivered. Each event, snapshot, timer and head record carries a
//     CRC32C, and reads are checked for gaps and against the head record. A failed check is
//     [journal.ErrCorrupt]; for a damaged snapshot, the next older one is used.
//   - If a connection is lost before a request was sent, the error is [journal.ErrUnavailable]; if
//     it is lost before the answer, the error is [journal.ErrUnknown]. The next call connects
//     again. A repeated append is recognised.
//   - A call whose context is done is also cancelled at the server, which reports whether it took
//     effect. This may take half a second more. Appends, and claims beside many others, do not wait
//     for it.
//   - A full disk is [journal.ErrFull]. A failed request leaves nothing behind, acknowledged data
//     stays, and the journal works again once there is space. If the disk of the write-ahead log
//     is full, the server shuts down instead.
//
// # How it writes
//
// Requests that arrive during a commit are stored together by the next statement, so that the rate
// grows with the number of writers. If hundreds wait, a second connection stores them at the same
// time. Claims share commits if more than four are made at once. If the server refuses a group, its
// requests are stored one by one, so that a bad request does not fail the others. An answer that
// takes longer than 30 s counts as lost: ErrUnknown. docs/performance.md compares the cost with the
// driver alone.
//
// # Reading events across ids
//
// [Journal.Events] orders events by the transaction that has stored them, and shows only events of
// transactions before the oldest one that still runs. It therefore never misses an event that
// commits late, which an order by a sequence would. In return, any open transaction that has
// written, in any database of the server, delays readers. A forgotten prepared transaction of a
// two-phase commit does so, too. [Journal.Lag] returns the delay. Read-only transactions do not
// delay readers.
//
// # Timers
//
// The journal is a [journal.TimerStore]. [Journal.Now] is the time of the server, by which all
// processes go. [Journal.Wakes] reads an index, which has the timers of all slices in the order of
// their times: a reader of a third of the slices passes over the others. Removed timers stay in the
// index until the server vacuums the table; its autovacuum does.
//
// # Requirements on the server
//
//   - PostgreSQL 14 or newer, a database with the encoding UTF8, and a server that takes writes.
//     Behind several addresses use target_session_attrs=read-write. It has been tested with version
//     15 only, and not with other servers that use the same protocol. A server without 64-bit
//     transaction ids and their snapshots cannot work.
//   - fsync=on, its default.
//   - A failover that loses no commit. With asynchronous replication, a promoted standby may lack
//     the last events and claims, and the journal cannot detect it. Synchronous replication
//     (synchronous_standby_names) prevents this, as long as only a synchronous standby is promoted
//     and the former primary is off.
//
// Set TLS in the connection string: with sslmode=verify-full and sslrootcert the client verifies
// the server. Without sslmode, TLS is used if the server supports it.
//
// Behind PgBouncer the pool modes session and transaction work; in transaction mode add
// default_query_exec_mode=exec to the connection string, or let PgBouncer know of prepared
// statements (max_prepared_statements). Use PgBouncer 1.19 or newer: in our tests, version 1.18
// (Debian 12) crashed when several statements were cancelled at once.
//
// # Privileges
//
// The first [Open] creates the tables, and the schema if it does not exist. A role without that
// privilege can use tables that another role has created with [DDL]. It needs
//
//	GRANT USAGE ON SCHEMA public TO app;
//	GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO app;
//
// Grant them again after a migration, which may add a table. [Leases] needs SELECT, INSERT and
// UPDATE on its table, which [Leases.Migrate] or the statement of [Leases.DDL] makes.
//
// # Moving to another server
//
// A physical copy (pg_basebackup, a standby, pg_upgrade) keeps everything. A dump that is restored
// in a new server contains transaction ids that are not valid there. Events then fails with an
// explanation, until the transaction ids of the new server are higher. After restoring, and before
// any program runs, run the statement of [Renumber]. Then start every reader of events from the
// beginning, because offsets of the old server are invalid.
//
// # Limits
//
//   - Payloads up to [MaxPayload], 512 MB in one request.
//   - The journal cannot detect that an older copy has replaced the tables, or that a whole row of
//     understudy_entity is missing: they look like an earlier state, or like a new id.
//   - While DeleteTo works on very many events, Events may still show some of them.
//
// # Looking inside
//
// The tables are understudy_entity, one row for each persistence id; understudy_event;
// understudy_snapshot; understudy_timer; understudy_reader, with the registered projections; and
// understudy_journal, with the version. Times are
// seconds and nanoseconds, of timers nanoseconds since 1970; tags are an array, metadata JSON,
// payloads CBOR.
//
// # Testing
//
// Give each test a [Schema] of its own, or use [journal.NewMemory], which obeys the same laws.
package postgres
