// Package projection builds read models from events: a table of balances, an index, messages to
// other systems. A projection reads the events of many persistence ids in the order of the
// journal, passes each to a function, and stores its offset.
//
// This package is experimental: a minor release may change it.
//
//	balances := projection.New("balances", journal, query,
//		projection.InTx(db, func(ctx context.Context, tx *sql.Tx, e projection.Event[AccountEvent]) error {
//			_, err := tx.ExecContext(ctx, "UPDATE balance SET …", e.ID, …)
//			return err
//		}))
//	ref := actor.Spawn(system, balances.Behavior(), "balances")
//
// In a cluster, run it on one node: actor.Spawn(system, behaviors.Singleton(balances.Behavior),
// "balances"). It works with any [journal.EventReader]. A [journal.Query] selects the events.
//
// A journal may have the events of several kinds of actors. To follow one kind, give its events a
// tag, or its persistence ids a pattern that [OfIDs] selects. For the entities of package
// cluster/sharding that is sharding.OfType.
//
// # Guarantees
//
//   - With [InTx], the effect of the function in its transaction happens exactly once for each
//     event, because the offset is part of the transaction. This survives kill -9 at any moment.
//   - With [AtLeastOnce], each event is handled; the events of the last batch are handled again if
//     the process dies before their offset is stored.
//   - Events of one persistence id are handled in order, one at a time. With one worker, all events
//     are handled in the order of the journal.
//   - No event is skipped because it is stored slowly or because its handler fails. Only
//     [SkipAfter] and [SkipOthers] skip events, and count them.
//   - An event that is damaged or cannot be decoded stops only its own persistence id, see below.
//
// # The life of a projection
//
// A worker reads new events, handles them in batches ([InBatches]), and waits. It reads again when
// the journal reports an append, and from time to time ([Polling]). If the function, the database
// or the journal fails, it starts again from the stored offset after a delay ([RestartBackoff]).
// With InTx, the events of a failed batch are then handled one by one, so that [GetStatus] names
// the one that fails. [Workers] share the events by persistence id.
//
// When the context of the function is done, the actor is being stopped: the function should
// return.
//
// # Events that cannot be decoded
//
// An event cannot be decoded if its record is damaged ([persistence.ErrCorrupt]) or its bytes are
// not a value of its type. The same holds if its type is not registered or is not the type of the
// projection, or if the function of [FromJournal] fails. The projection then holds back the events
// of its persistence id, starting with this one, and continues with all other ids. It logs an
// error; [Status] lists each held id with the sequence number and the reason, and [Status.Failing]
// names the first.
//
// No event is lost: at each start of the program, a worker tries the held events again, in order,
// with the same guarantees. There are two ways to continue. Start a program that can decode the
// event, with a registered type or FromJournal, or restore the record. Or start the projection with
// SkipOthers, for types that it does not need, or with SkipAfter, which skips the event for good.
// The held ids are stored with the offsets. A worker that holds 1000 ids stops at the next one.
//
// A record whose codec is missing ([persistence.ErrCodec]) stops the worker: all ids need it. A
// damaged record that does not tell its id stops it, too, because it may be of any id.
//
// # Names
//
// The offset belongs to the name of the projection. The name must never change; the function, the
// actor and the program may. To rebuild the read model, use another name; or delete the read model,
// its offset, and the offsets whose names begin with its name and "/". Types of events are
// identified by their registered names.
//
// Run one projection of a name at a time: make it a singleton. With InTx, two that overlap for a
// moment, for example after a node was suspended, do no harm. Each moves the offset only from the
// position where it left it, so one of them fails with [ErrMoved], rolls back and continues from
// the stored offset. With AtLeastOnce both may handle the same events.
//
// # What is not guaranteed
//
// The read model lags behind the journal, usually by milliseconds; [CatchUp] waits for it. Events
// that are deleted before they are handled are missing, unless the projection is [Registered].
//
// # Testing
//
// [Projection.CatchUp] handles all stored events and returns, without an actor. With
// journal.NewMemory and [MemoryOffsets], an actor works in a testing/synctest bubble; send it the
// command [CatchUp] instead of waiting.
package projection
