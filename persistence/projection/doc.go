// Package projection makes something to look at out of events: a table of balances, an
// index, a message to somebody else. A projection reads the events of many persistence
// ids in the order of the journal, hands each to a function, and remembers how far it has
// come.
//
//	balances := projection.New("balances", journal, persistence.Query{Tag: "account"},
//		projection.InTx(db, func(ctx context.Context, tx *sql.Tx, e projection.Event[AccountEvent]) error {
//			_, err := tx.ExecContext(ctx, "UPDATE balance SET …", e.ID, …)
//			return err
//		}))
//	ref := actor.Spawn(system, balances.Behavior(), "balances")
//
// In a cluster, one node runs it: actor.Spawn(system, behaviors.Singleton(balances.Behavior),
// "balances"). The journal is any [persistence.EventReader].
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
// # Names
//
// The offset belongs to the name of the projection, so the name must never change, while
// the function, the actor and the program may. To make everything again, take another
// name, or delete the offset and what the projection has made. Types of events are found
// by their registered names.
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
