// Package postgres keeps events and snapshots in tables of a PostgreSQL database: for
// those who have outgrown one machine. Any number of processes anywhere may share a
// journal.
//
//	journal, err := postgres.Open(ctx, "postgres://understudy@db.example/app")
//
// # Guarantees
//
//   - An append whose answer is nil is on the disk of the server, whatever
//     synchronous_commit is for the role or the database: "off" and "local" are raised to
//     "on" for these transactions, and a stronger setting is left alone. [ProcessSafe]
//     gives that up for speed.
//   - Claims, appends, deletions and snapshots are each one statement and a transaction of
//     its own, wholly there or not at all, on the condition that their epoch is the newest.
//     A claim fences the writers of all other processes. Nothing is open between two
//     requests: a process that is stopped or cut off holds no lock.
//   - Nothing that was damaged is delivered: each event, snapshot and head record carries a
//     CRC32C, and what is read is checked for gaps and against the head record. A failed
//     check is [journal.ErrCorrupt]; of snapshots, the next older one is taken.
//   - A connection that is lost before a request was sent is [journal.ErrUnavailable],
//     one that is lost before the answer came [journal.ErrUnknown]; the next call
//     connects anew. The very same append, sent again, is recognised.
//   - A call that ends with its context is called off at the server too, which says whether
//     it came to anything; that may take half a second more. Appends do not wait for that.
//   - A full disk is [journal.ErrFull]. Nothing of what failed is stored, what was
//     acknowledged stays, and the journal works again when there is space. When it is the
//     disk of the write-ahead log, the server shuts itself down instead.
//
// # How it writes
//
// One goroutine per journal appends. Whatever arrives during a commit is stored together
// by the next statement, so that the rate grows with the number of writers. What the
// server refuses of a group is stored one by one, so that a bad request does not fail its
// neighbours. An answer that takes longer than 30 s is given up, as ErrUnknown.
//
// What it costs beside the driver alone, with the same statements and in turns, is in
// docs/performance-persistence.md, with the commands that measure it.
//
// # Reading events across ids
//
// [Journal.Events] orders events by the transaction that has stored them, and shows only
// those of transactions before the oldest that is still running: so it never passes over
// one that commits late, which it would if it went by a sequence. The price is that any
// transaction that has written and stays open holds readers back, whatever it does and in
// whichever database of the server; so does one that was prepared for two-phase commit and
// forgotten. [Journal.Lag] says by how long. Readers that only read hold nobody back.
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
// TLS is a matter of the connection string: sslmode=verify-full and sslrootcert, which say
// that the server must prove who it is. Without sslmode it is used if the server has it.
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
