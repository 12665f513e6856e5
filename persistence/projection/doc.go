// Package projection makes something to look at out of events: a table of balances, an
// index, a message to somebody else. A projection reads the events of many persistence
// ids in the order of the journal, hands each to a function, and remembers how far it has
// come.
//
//	balances := projection.New("balances", journal, journal.Query{Tag: "account"},
//		projection.InTx(db, func(ctx context.Context, tx *sql.Tx, e projection.Event[AccountEvent]) error {
//			_, err := tx.ExecContext(ctx, "UPDATE balance SET …", e.ID, …)
//			return err
//		}))
//	ref := actor.Spawn(system, balances.Behavior(), "balances")
//
// In a cluster, one node runs it: actor.Spawn(system, behaviors.Singleton(balances.Behavior),
// "balances"). The journal is any [journal.EventReader].
//
// # Guarantees
//
//   - With [InTx], what the function does in its transaction is done exactly once for each
//     event: the offset is part of the transaction. It survives kill -9 at any moment.
//   - With [AtLeastOnce] each event is handled, and those of the last batch again when the
//     process dies before their offset is stored.
//   - Events of one persistence id are handled in order, one at a time. With one worker
//     all events are handled in the order of the journal.
//   - An event is never passed over because it is slow to be stored, or because its
//     handler fails; only [SkipAfter] and [SkipOthers] do that, and count it.
//   - An event that cannot be decoded stops its own persistence id and no other, see below.
//
// # The life of a projection
//
// A worker reads what there is, hands it over in batches ([InBatches]), and rests. It
// looks again when the journal says that something was appended, and now and then anyway
// ([Polling]). When the function, the database or the journal fails, it begins again at
// the stored offset, after a delay ([RestartBackoff]); with InTx, events of a batch that
// has failed come one by one then, so that [GetStatus] names the one that fails. [Workers]
// share the events by persistence id.
//
// A context that is done means that the actor is being stopped: the function should
// return.
//
// # Events that cannot be decoded
//
// An event cannot be decoded when its type is not registered or not that of the projection,
// when its bytes are not a value of its type, or when the function of [FromJournal] fails. The
// projection then holds back the events of its persistence id, from this one on, and goes on
// with all other ids. An error is logged; [Status] lists each id that is held back, with the
// sequence number and the reason, and [Status.Failing] names the first.
//
// Nothing is lost: when a worker begins, at each start of the program, it tries the events
// that are held back again, in order, with the same guarantees as all others. So there are
// two ways to go on: start a program that can decode the event (a registered type, a
// FromJournal), or start the projection with SkipOthers, for types that are none of its
// business, or with SkipAfter, which passes over the event for good. Which ids are held back is
// stored with the offsets. A worker that holds back 1000 ids stops at the next.
//
// A record that is damaged in the journal, [persistence.ErrCorrupt], or that a codec is missing
// for, [persistence.ErrCodec], stops the worker: the journal does not return what follows it.
//
// # Names
//
// The offset belongs to the name of the projection, so the name must never change, while
// the function, the actor and the program may. To make everything again, take another
// name, or delete what the projection has made, its offset, and the offsets whose names begin
// with its name and "/". Types of events are found by their registered names.
//
// One projection of a name should run at a time: make it a singleton. Two that do so for a
// moment, as when a node was suspended, do no harm with InTx: each moves the offset only
// from where it has left it, so one of them fails with [ErrMoved], undoes what it did and
// goes on from where the other one is. With AtLeastOnce both may handle the same events.
//
// # What is not guaranteed
//
// What a projection makes is behind the journal, mostly by milliseconds; [CatchUp] waits
// for it. Events that were deleted before they were handled are missing.
//
// # Testing
//
// [Projection.CatchUp] handles all there is and returns, without an actor. With
// persistence/memory and [MemoryOffsets] an actor works in a testing/synctest bubble; ask
// it with the command [CatchUp] instead of waiting.
package projection
