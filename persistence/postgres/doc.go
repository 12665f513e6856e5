// Package postgres keeps events and snapshots in tables of a PostgreSQL database, for programs that
// run on more than one machine. Any number of processes may share a journal.
//
//	journal, err := postgres.Open(ctx, "postgres://understudy@db.example/app")
//
// # Guarantees
//
//   - An acknowledged append is on the disk of the server, whatever
//     synchronous_commit is for the role or the database: "off" and "local" are raised to
//     "on" for these transactions, and a stronger setting is left alone. [ProcessSafe]
//     gives that up for speed.
//   - Claims, appends, deletions and snapshots are each one statement and a transaction of
//     its own, complete or not stored at all, on the condition that its epoch is the newest.
//     A claim fences the writers of all other processes. No transaction is open between
//     two requests: a process that is stopped or partitioned holds no lock.
//   - Damaged data is never delivered. Each event, snapshot and head record carries a CRC32C, and
//     reads are checked for gaps and against the head record. A failed check is
//     [journal.ErrCorrupt]; for a damaged snapshot, the next older one is used.
//   - A connection that is lost before a request was sent is [journal.ErrUnavailable],
//     one that is lost before the answer [journal.ErrUnknown]; the next call
//     connects again. A repeated append is recognised.
//   - A call whose context is done is cancelled at the server, too, which reports whether it took
//     effect; that may take half a second more. Appends do not wait for it.
//   - A full disk is [journal.ErrFull]. A failed request leaves nothing behind, acknowledged data
//     stays, and the journal works again once there is space. If the disk of the write-ahead log
//     is full, the server shuts down instead.
//
// # How it writes
//
// One goroutine per journal appends. Requests that arrive during a commit are stored together by
// the next statement, so that the rate grows with the number of writers. If the server refuses a
// group, its requests are stored one by one, so that a bad request does not fail the others. An
// answer that takes longer than 30 s counts as lost: ErrUnknown. docs/performance-persistence.md
// compares the cost with the driver alone.
//
// # Reading events across ids
//
// [Journal.Events] orders events by the transaction that has stored them, and shows only events of
// transactions before the oldest one that still runs. It therefore never misses an event that
// commits late, as it would with a sequence. The price: any open transaction that has written, in
// any database of the server, delays readers; so does a forgotten prepared transaction of a
// two-phase commit. [Journal.Lag] returns the delay. Transactions that only read delay nobody.
//
// # What it needs of the server
//
//   - PostgreSQL 14 or newer, a database with the encoding UTF8, and a server that takes
//     writes. Behind several addresses use target_session_attrs=read-write. Tested with
//     version 15 alone. Other servers that speak its protocol were not tried; one without
//     transaction ids of 64 bits and their snapshots cannot work.
//   - fsync=on, its default.
//   - A failover that loses no commit. With asynchronous replication the standby that is
//     promoted may not know the last events and claims, and nothing in it can tell.
//     Synchronous replication (synchronous_standby_names) prevents it, as long as only a
//     standby that was synchronous is promoted and the former primary is off.
//
// TLS is a matter of the connection string: sslmode=verify-full and sslrootcert, which make
// the client verify the server. Without sslmode it is used if the server has it.
//
// Behind PgBouncer the pool modes session and transaction work; in transaction mode add
// default_query_exec_mode=exec to the connection string, or let PgBouncer know of prepared
// statements (max_prepared_statements). Take PgBouncer 1.19 or newer: 1.18, which Debian 12
// has, was seen to end when several statements were cancelled in one moment.
//
// # Privileges
//
// The first [Open] makes the tables, and the schema if it is not there. A role that may not
// do that can use what another has made with [DDL], and needs
//
//	GRANT USAGE ON SCHEMA public TO app;
//	GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO app;
//
// # Moving to another server
//
// A physical copy (pg_basebackup, a standby, pg_upgrade) keeps everything. A dump that is
// restored in a new server brings transaction ids along that mean nothing there; Events then
// fails and says so, until the new server has come as far. After restoring, before any
// program runs, run the statement of [Renumber], and start every reader of events from the
// beginning: offsets of the old server are worthless.
//
// # Limits
//
//   - Payloads up to [MaxPayload], 512 MB in one request.
//   - An older copy of the tables, or a row of understudy_entity that is gone as a whole,
//     looks like an earlier state or an id that is new: nothing inside can tell.
//   - While DeleteTo works on very many events, Events may still show some of them.
//
// # Looking inside
//
// The tables are understudy_entity, one row for each persistence id; understudy_event;
// understudy_snapshot; and understudy_journal, with the version. Times are seconds and
// nanoseconds, tags an array, metadata JSON, payloads CBOR.
//
// # Testing
//
// Give each test a [Schema] of its own, or use package memory, which obeys the same laws.
package postgres
