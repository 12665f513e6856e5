// Package persistence gives actors a state that outlives them. An event-sourced actor stores its
// events in a journal; when it starts again, on this node or another, it replays them.
//
//	func onEvent(count int, _ Incremented) int { return count + 1 }
//
//	func onCommand(_ *actor.Context[Msg], count int, msg Msg) persistence.Effect[Incremented] {
//		switch msg := msg.(type) {
//		case Increment:
//			return persistence.ThenReply(persistence.Persist(Incremented{}), msg.ReplyTo, count+1)
//		case Get:
//			return persistence.Reply[Incremented](msg.ReplyTo, count)
//		}
//		return persistence.Unhandled
//	}
//
//	counter := behaviors.EventSourced("counter-1", journal, 0, onEvent, onCommand)
//
// The constructors are behaviors.EventSourced and behaviors.DurableState. Events are kept in a
// [Journal]: start with persistence/sqlite, and use journal.NewMemory in tests. Package
// persistence/journal is the contract that stores implement.
//
// # Commands, events, state
//
// A message to the actor is a command. The command handler looks at the command and the state,
// changes nothing, and returns an [Effect]:
//
//	Persist(events...)      stores events, all or none
//	Reply[Event](ref, x)    sends x to ref, and stores nothing
//	None                    does nothing
//	Unhandled               publishes the command as unhandled
//	Stop                    ends the actor
//	Stash                   puts the command aside
//	UnstashAll              handles all stashed commands next
//	Unstash[Event](n)       handles the first n stashed commands next
//	Once(key, effect)       is effect, for the first command with the key
//
// Actions can be chained to an effect: [Effect.Then], [ThenReply], [Effect.ThenUnstash],
// [Effect.ThenUnstashAll] and [Effect.ThenStop]. The event handler applies an event to a state.
// It runs for each new event and again in every replay, so it must depend on nothing else: no
// clock, no random numbers, no side effects. It returns a new state and does not change the one
// it is given: clone maps and slices. Every incarnation starts with the same initial state.
//
// The types of events must be registered with [actor.RegisterType] under a name that never
// changes, because it is stored with each event. Fields are stored as CBOR, by name: fields may
// be added, and fields that no longer exist are ignored. For larger changes see Old events.
//
// # Durability
//
// The events of one effect are stored together or not at all. The event handler runs before they
// are written; if it panics, nothing is stored. Commands see the new state once the journal has
// acknowledged the write. Only then do the chained actions run, in order: a client that receives a
// chained reply can rely on the events. A reply that the command handler sends itself goes out
// earlier.
//
// Chained actions run at most once: never in a replay, and not if the process dies after the write.
// A client without a reply does not know whether the events are stored, and repeats the command.
// [Once] executes it once for its key, and gives the client the first reply.
//
// # The life of the actor
//
//  1. It waits for its turn to recover, see [LimitRecoveries].
//  2. It claims its persistence id: from now on no older instance can write.
//  3. It loads the newest snapshot that can be decoded. It skips snapshots that are damaged or
//     cannot be decoded, and reports them in the log and as [SnapshotSkipped].
//  4. It replays the events after the snapshot, and checks that none is missing.
//  5. Its signal handler gets [RecoveryCompleted].
//  6. It handles commands one by one; a command is done when its events are durable and the
//     chained actions have run.
//  7. It ends like any actor, or after a time without commands, see [Options.PassivateAfter].
//
// Commands that arrive during recovery or a write wait in the mailbox, in order. The mailbox
// bounds them, see [actor.Bounded]; [Options.StashCapacity] bounds stashed commands. Input and
// output block only the actor itself.
//
// An actor that is stopped during a write ends when the write has an answer and its chained
// actions have run. A stop during recovery cancels it. Commands that are still stashed when the
// actor ends become dead letters.
//
// # Signals
//
// [Options.OnSignal] handles everything that happens to the actor besides commands: the outcome
// of recovery, writes and snapshots, the end of watched actors, and the actor's own end. It sees
// the stored state and returns an effect, so that it can persist events.
//
// # One writer
//
// A persistence id has one writer: the instance with the newest claim. As soon as another instance
// claims the id, on any node, the journal refuses every write of the older one with [ErrFenced].
// Two instances can therefore exist for a while and still write one linear history. The older one
// does not notice before it writes, so its answers to queries may be outdated. It fails at its next
// write; no event that it has acknowledged is lost.
//
// This failure is final: supervision does not restart the actor. A restart would claim the id
// back, and the two instances would fence each other in turn. The manager of a singleton asks
// the other nodes before it starts another instance.
//
// An event under an older claim never follows an event under a newer one. Recovery fails with
// [ErrCorrupt] if it finds one, because then the store is broken or was merged from two.
//
// For a singleton, the epoch of the claim and the generation of the instance are one number,
// whether the members, a lease or a source of generations issue it.
//
// # Failures
//
//	what happens                                 signal            consequence
//
//	the command handler panics                   –                 the actor fails; nothing is stored
//	the event handler, Tags, an adapter or       –                 the actor fails; nothing is stored
//	SnapshotWhen panics
//	a chained action or OnSignal panics          –                 the actor fails; the events are stored
//	events of an unregistered type, too large,   PersistRejected   it fails with *RejectedError; nothing is
//	or that could not be decoded again                             stored, and it may resume
//	ErrUnavailable, ErrFull, ErrUnknown          –                 the same request is sent again, see
//	                                                               Options.OnPersistFailure
//	the same for longer than PersistTimeout      PersistFailed     it fails with the error
//	ErrFenced, any other error                   PersistFailed     it fails with the error
//	recovery cannot be completed                 RecoveryFailed    it fails with *RecoveryError
//	the store does not answer recovery within    RecoveryFailed    it fails with *RecoveryError
//	RecoveryTimeout
//	OnSignal panics at RecoveryCompleted         RecoveryFailed    it fails with *RecoveryError
//	recovery cannot read a snapshot              SnapshotSkipped   it uses an older one, or events alone
//	a snapshot cannot be saved, or not decoded   SnapshotFailed    a warning is logged; nothing is deleted
//	old events or snapshots cannot be deleted    Delete…Failed     a warning is logged
//
// Supervision decides about failures, as for any actor. A restart recovers again; give it an
// [actor.Backoff], because a journal that is down fails again at once. Commands in the mailbox
// stay there. Stashed commands stay stashed while a request is sent again. After a failure of
// the journal, a restart puts them behind the commands in the mailbox; in any other restart they
// become dead letters. After a failure of the journal the actor cannot resume: each further
// command fails it with the same error.
//
// An ask that ends at its deadline, because the journal keeps the actor from going on, says so. Its
// error also wraps [ErrFull], [ErrUnavailable] or [ErrUnknown], and has the persistence id and the
// text of the store. That holds for asks whose command is stored at that time, waits, or comes
// meanwhile, and for asks of other nodes and clients. A write that has not been answered for one
// second counts as ErrUnknown, and such a recovery as ErrUnavailable, also while it waits for
// others. While the actor waits for its restart, the error wraps the failure. A command that is
// being stored may still be stored after its ask has ended.
//
// A store that ignores the contexts of its calls cannot block an actor. One second after the
// context of a call is done, the actor abandons the call. It logs an error with its path, the
// persistence id, the call and its duration. If the call ends later, it logs a second line. An
// abandoned claim or append may still take effect. Recovery of an id with four abandoned calls
// fails at once, until one of them ends.
//
// There is no circuit breaker. [Options.OnPersistFailure] and the backoff of supervision protect
// a journal that is down; [LimitRecoveries] protects one that has just come back.
//
// # Snapshots
//
// [Options.SnapshotEvery] and [Options.SnapshotWhen] save the state, so that recovery starts
// there. Snapshots are an optimization: events are kept unless [Options.DeleteEvents] is set. A
// snapshot is decoded before it is saved, and read back from the store before anything is
// deleted for it. Recovery skips a snapshot that cannot be decoded any more, because its type
// has changed or is not registered: it uses the next older one and the events after it, or the
// events alone. If these have been deleted, recovery fails; register the old type then.
//
// # Old events
//
// Events outlive the code that has stored them. [Options.FromJournal] gets each stored event, with
// the name of its type and its version, before the event handler does. It returns the current form:
// another event, several, or none. [Options.ToJournal] separates the stored form of events from the
// form that handlers use, and gives them versions. Stored events never change. Adapters belong to
// the behavior: other readers of the journal, such as projections, get events as they are stored.
//
// # Many actors
//
// Actors that are seldom used need not always be in memory: with [Options.PassivateAfter] they end
// when they are idle. Let one parent spawn them when there is a message for them, and watch them,
// because a message to an actor that is just ending becomes a dead letter. If many start at the
// same time, [LimitRecoveries] bounds how many recover at once.
//
// # What is not guaranteed
//
// Nothing is exactly-once outside the journal: commands are delivered at most once, and side
// effects happen at most once. Events of different persistence ids are not stored atomically.
// Reads are not fenced.
//
// # Durable state
//
// Where only the latest state matters, use behaviors.DurableState. Its command handler returns
// [PersistState] with the new value, [DeleteState], or any other effect. It gets the revision,
// which grows by one with each value. All of the above applies, with "value" for "event"; the
// journals are the same. Readers across persistence ids see the latest value and deletions, but not
// every value in between.
//
// # Codecs and encryption
//
// Package persistence/codec encodes all payloads of a journal, for example to encrypt them. The
// name of the codec is stored with each payload: if the codec or its key is missing, reading
// fails with [ErrCodec], which names it. docs/event-sourcing.md says how stored types may change
// over the years.
//
// # Testing
//
// Use journal.NewMemory in a testing/synctest bubble: backoffs and timeouts take no real time.
// To test recovery, stop the actor and spawn it again on the same journal; to test fencing,
// spawn a second one beside the first. Event handlers are plain functions. Package
// testkit/eventsourced runs a behavior command by command. Package persistence/journaltest
// tests a journal of your own.
package persistence
