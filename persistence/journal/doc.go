// Package journal is the contract between event sourcing and the stores that keep events. It
// is for authors of stores and for readers of stored events, as database/sql/driver is for
// authors of database drivers. Programs that only use event-sourced actors need package
// persistence.
//
// This package is experimental: a minor release may change it.
//
// A store implements [Journal]. It may also implement [SnapshotStore], to shorten recovery, and
// [EventReader], so that projections can read the events of all persistence ids, [TimerStore],
// [Forgetter], to erase an id, and [Retainer], so that deletions wait for projections. A journal
// that wraps another one implements [Wrapper]: [As] then reports only the interfaces that the
// inner journal implements. Methods that a wrapper cannot delegate return [errors.ErrUnsupported].
//
// # Claims
//
// A writer calls [Journal.Claim] before anything else and gets an epoch that is greater than
// every earlier epoch of the persistence id. The store refuses writes under an older epoch with
// [ErrFenced].
//
// A claim normally succeeds, so the last one wins. If a coordinator chooses the writer, a late
// claim of an earlier writer could win. Such writers have a number, their generation, and
// give their claims [Bounds]: the store refuses a claim once a later generation has claimed the
// id. [NextEpoch] has the rule; a store applies it to the last epoch and stores the result in one
// atomic step. A refused claim changes nothing. The store gives out no epoch twice, even if the
// answer to a claim is lost.
//
// # Helpers
//
// [ValidateID], [AppendRequest.Validate], [Snapshot.Validate] and [Query.Validate] check what
// every store must refuse. [Record.Checksum] and [Snapshot.Checksum] are stored with the data
// and compared when it is read. A [Notifier] implements [EventReader.Appended].
//
// # Testing
//
// Package persistence/journaltest runs the laws of this contract against a store. [NewMemory] is a
// journal for tests of actors.
package journal
