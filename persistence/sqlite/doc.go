// Package sqlite keeps events and snapshots in an SQLite database: the embedded default
// of the project. It needs no server and no cgo, and any number of processes of one
// machine may have the same file open at once.
//
//	journal, err := sqlite.Open("data/journal.db")
//
// # Guarantees
//
//   - An append whose answer is nil is on the disk: it survives kill -9, and the loss of
//     power as far as the disk keeps what it has synced. [ProcessSafe] gives up the
//     second for speed.
//   - Claims, appends, deletions and snapshots of all processes are one after the other,
//     each wholly there or not at all. A claim in one process fences the writers of all
//     others.
//   - Nothing that was damaged is delivered: each event, snapshot and head record carries
//     a CRC32C, and what is read is checked for gaps and against the head record. A
//     failed check is [journal.ErrCorrupt]; of snapshots, the next older one is taken.
//     [Journal.Check] looks at all there is.
//   - A full disk is [journal.ErrFull]. Nothing of what failed is stored, what was
//     acknowledged stays, and the journal works again when there is space.
//   - Writers of all processes get their turn: they queue in the kernel, on two file locks
//     beside the database, so that a busy process cannot starve one that only wants to
//     claim. The locks vanish with the process that holds them.
//
// # How it writes
//
// One goroutine per journal commits. Whatever arrives during a commit is committed
// together by the next one, so that the rate grows with the number of writers, while each
// waits for one or two syncs of the disk. An append is two statements: one moves the head
// of the id if it is as this process has left it, and one stores the event; the head is read
// when that was not so. What it costs beside the driver alone is in
// docs/performance-persistence.md, with the commands that measure it.
//
// A context bounds the wait for the lock, too. A process that is stopped (SIGSTOP) while it
// writes keeps all others from writing: their calls fail with [journal.ErrUnavailable] when
// their contexts are done, and nothing is stored. With [ContinueStopped] a waiting writer
// continues the stopped process. Readers never wait. A program that opens the database without
// taking these locks, such as the sqlite3 shell, delays writers for up to five seconds.
//
// # Queries
//
// The journal is a [journal.EventReader]: its order is that of the commits of all
// processes, so a reader misses nothing, whoever writes. Readers in other processes see
// what is committed when they look. Within a process, [Journal.Appended] reports appends at once. To
// read by slices, all events that come after the offset are looked at: the cost of a
// slice is a hash for each.
//
// # Limits
//
//   - One machine: never put the file on a network file system, where its locks and the
//     shared memory of the write-ahead log do not work; on Linux [Open] refuses those that
//     it knows. Nodes on several machines need a
//     journal with a server.
//   - Unix: on systems without flock, as Windows, [Open] fails.
//   - Payloads up to [MaxPayload].
//   - An older copy of the file put in its place, or a persistence id that was damaged in
//     the index of ids, looks like an earlier state or an id that is new: nothing inside
//     the file can tell.
//   - To copy a database that is open use VACUUM INTO or the backup of the SQLite shell:
//     the last commits are in a file of their own, path-wal.
//
// # Looking inside
//
// The tables entity, event, event_tag and snapshot can be read with any SQLite tool, also
// while the journal is open. Times are seconds and nanoseconds, tags and metadata JSON,
// payloads CBOR.
//
// # Testing
//
// Give each test a file in its t.TempDir, or use package memory, which obeys the same
// laws. Tests inside testing/synctest bubbles may use this package: its waiting for the
// disk does not move the clock of the bubble.
package sqlite
