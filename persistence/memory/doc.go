// Package memory keeps events and snapshots in the memory of the process: a journal for
// tests and for state that may die with the process.
//
// It obeys every law of [journal.Journal] and [journal.SnapshotStore] and passes
// the same conformance suite as the stores on disk: claims fence, appends are atomic and
// conditional, retries are recognised. What it does not do is survive: "durable" means
// stored in this process.
//
// One journal may serve several systems of a process, and then plays the shared store of
// a cluster whose nodes all live in one test: a node that is cut off and still writes is
// refused as it would be by a database.
//
// # Queries
//
// It is a [journal.EventReader] whose order is that of the appends, and a
// [journal.Waker].
//
// # Testing
//
// It starts no goroutine and reads no clock, so it works inside testing/synctest bubbles.
package memory
