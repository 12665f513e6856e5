// Package sqlite keeps events, snapshots and timers in an SQLite database. It is the default store
// of the project: it needs no server and no cgo, and any number of processes of one machine may
// have the same file open.
//
//	journal, err := sqlite.Open("data/journal.db")
//
// # Guarantees
//
//   - An acknowledged append is on the disk: it survives kill -9, and a power failure if the disk
//     keeps what it has synced. [ProcessSafe] gives up the second for speed.
//   - Claims, appends, deletions and snapshots of all processes are serialized, and each is
//     complete or not stored at all: an append together with its changes of timers. A claim in one
//     process fences the writers of all others.
//   - Damaged data is never delivered. Each event, snapshot, timer and head record carries a
//     CRC32C, and reads are checked for gaps and against the head record. A failed check is
//     [journal.ErrCorrupt]; for a damaged snapshot, the next older one is used. [Journal.Check]
//     checks the whole database.
//   - A full disk is [journal.ErrFull]. A failed request leaves nothing behind, acknowledged data
//     stays, and the journal works again once there is space.
//   - Writers of all processes are served in order: they queue in the kernel, on two file locks
//     beside the database, so that a busy process cannot starve another one that wants to claim.
//     The locks of a process vanish when it ends.
//
// # How it writes
//
// One goroutine per journal commits. Requests that arrive during a commit are committed together by
// the next one, so that the rate grows with the number of writers, while each waits for one or two
// syncs of the disk. An append is two statements: one moves the head of the id if it is as this
// process has left it, and one stores the event. Otherwise the head is read first.
// docs/performance.md compares the cost with the driver alone.
//
// A context bounds the wait for the lock, too. A process that is stopped (SIGSTOP) while it writes
// keeps all others from writing: their calls fail with [journal.ErrUnavailable] when their contexts
// are done, and nothing is stored. With [ContinueStopped] a waiting writer continues the stopped
// process. Readers never wait. A program that opens the database without taking these locks, such
// as the sqlite3 shell, delays writers for up to five seconds.
//
// # Queries
//
// The journal is a [journal.EventReader]. Its order is the order of the commits of all processes,
// so readers miss nothing. Appended reports appends of the same process; readers in other
// processes see them when they read again. A query for slices examines all events after the offset,
// and hashes the id of each.
//
// # Timers
//
// The journal is a [journal.TimerStore]. Each timer is a row, and a change of it one more statement
// of the append. [Journal.Wakes] reads an index, which has the timers of all slices in the order of
// their times: a reader of a third of the slices passes over the others. [Journal.Now] is the time
// of the host.
//
// # Erasure
//
// What is deleted is overwritten with zeros in the file, always. [Journal.Forget] also overwrites
// the copies that SQLite has left in pages when it rearranged them, and empties the write-ahead
// log: the bytes of an id are then in no file of the journal. To find such copies it reads the
// pages of the database, while other writers wait. The disk may still have what the file system has
// overwritten or freed.
//
// # Limits
//
//   - One machine. Never put the file on a network file system: its locks and the shared memory of
//     the write-ahead log do not work there. On Linux, [Open] refuses the network file systems that
//     it knows. Nodes on several machines need a journal with a server.
//   - Unix. On systems without flock, such as Windows, [Open] fails.
//   - Payloads up to [MaxPayload].
//   - If an older copy replaces the file, or a persistence id is damaged in the index of ids, the
//     journal cannot detect it: it looks like an earlier state, or like a new id.
//   - To copy an open database, use VACUUM INTO or the backup of the SQLite shell: the last commits
//     are in a separate file, path-wal.
//
// # Looking inside
//
// Any SQLite tool can read the tables entity, event, event_tag, snapshot and timer, also while the
// journal is open. Times are seconds and nanoseconds, of timers nanoseconds since 1970; tags and
// metadata are JSON, payloads are CBOR.
//
// # Testing
//
// Give each test a file in its t.TempDir, or use [journal.NewMemory], which obeys the same laws.
// Tests in testing/synctest bubbles may use this package: waiting for the disk does not advance the
// clock of the bubble.
package sqlite
