// Package memory keeps events and snapshots in the memory of the process: a journal for
// tests and for state that may die with the process.
//
// It passes the same conformance suite as the stores on disk: claims fence, appends are atomic and
// conditional, and repeated requests are recognised. "Durable" means stored in this process.
//
// Several actor systems of a process may share one journal, as the nodes of a cluster share a
// database: the writes of a node that is partitioned are refused in the same way.
//
// # Queries
//
// It is a [journal.EventReader]. Its order is the order of the appends.
//
// # Testing
//
// It starts no goroutine and reads no clock, so it works inside testing/synctest bubbles.
package memory
