// Package persistence gives actors a state that outlives them: an actor stores what has
// happened, its events, and when it starts again, here or on another node, it replays
// them.
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
// The package has the behavior, which users write as behaviors.EventSourced, and the
// contract of the stores, [Journal] and [SnapshotStore]. Stores are in packages of their
// own: persistence/memory, and persistence/sqlite, which is the one to begin with.
//
// # Commands, events, state
//
// A message to the actor is a command. The command handler looks at it and at the state,
// changes nothing, and returns an [Effect]:
//
//	Persist(events...)      stores events, all or none
//	Reply[Event](ref, x)    tells ref x, and stores nothing
//	None                    does nothing
//	Unhandled               publishes the command as unhandled
//	Stop                    ends the actor
//	Stash                   puts the command aside
//	UnstashAll              makes it the turn of what was put aside, all of it
//	Unstash[Event](n)       or the first n
//
// To each of them may be chained what is done after it: [Effect.Then], [ThenReply],
// [Effect.ThenUnstash], [Effect.ThenUnstashAll], [Effect.ThenStop]. The event handler says what an event makes of a state. It runs when
// an event is new and again at every replay, so it depends on nothing else: no clock, no
// chance, no side effect. It returns a new state and leaves the one that it is given as it
// is: clone maps and slices. The initial state too is handed to every incarnation.
//
// The types of events must be registered with [actor.RegisterType], under a name that
// never changes, as it is stored with each of them. The fields are CBOR by name: fields
// may be added, and those that are gone are passed over. For greater changes see Old
// events, below.
//
// # Durability
//
// The events of one effect are stored together or not at all. The event handler runs
// before they are written; when it panics, nothing is stored. The new state is what
// commands see once the journal has acknowledged the write, and only then what is chained
// to the effect is done, in order. So who has had a reply that was chained can rely on the events. A
// reply that the command handler itself sends goes out before.
//
// What is chained is done at most once: never on replay, and not when the process dies
// between the write and it. Who gets no reply does not know whether the events are
// stored; let commands that are sent again carry an id that events remember.
//
// # The life of the actor
//
//  1. It waits for its turn to recover, see [LimitRecoveries].
//  2. It claims its persistence id: from now on no older instance can write.
//  3. It loads the newest snapshot that can be decoded. Those that are damaged, or cannot
//     be decoded, are passed over; the log and [SnapshotSkipped] say so.
//  4. It replays the events that follow, and checks that all are there, in order.
//  5. Its signal handler learns of [RecoveryCompleted].
//  6. It handles commands, one after the other; each is done when its events are durable
//     and what is chained to them has been done.
//  7. It ends as any actor does; before, or a while after its last command, see
//     [PassivateAfter].
//
// Commands that come during recovery or a write wait in the mailbox and are handled
// afterwards, in order. The mailbox bounds them, see [actor.Bounded]; [StashCapacity]
// bounds what is put aside by [Stash]. I/O blocks the actor itself and no other.
//
// An actor that is stopped while a write is under way ends when the write has its answer,
// and what is chained and unstashed has been done. A stop during recovery gives it up.
// Commands that are still put aside when the actor ends are dead letters.
//
// # Signals
//
// [OnSignal] takes a handler for all that happens to the actor besides commands: what
// became of its recovery, its writes and its snapshots, the end of actors that it watches,
// its own end. It sees the state as it is stored, and answers with an effect, so that what
// it learns may become an event.
//
// # One writer
//
// A persistence id has one writer: that of the newest claim. The moment another instance
// claims the id, wherever it runs, the journal refuses every write of the older one with
// [ErrFenced], so two instances can exist for a while and still leave one linear history.
// The older one does not know before it writes: what it answers from its state alone may
// be outdated. It fails at its next write; nothing that it had acknowledged is lost.
//
// That failure is final: no supervision restarts the actor, as it would only claim the id
// back, and two actors would fence each other off in turn. A singleton's manager asks the
// other nodes before it starts another instance.
//
// A stream of events in which a claim is followed by an older one cannot come from two
// writers, then, and there is no filter that mends it while it is read: it means that the
// store is broken, or was put together from two, and fails recovery with [ErrCorrupt].
//
// For a singleton the claim and its generation are one number, whether the members agree on
// it, a lease gives it, or a source of generations.
//
// # Failures
//
//	what happens                                 signal            what follows
//
//	the command handler panics                   –                 the actor fails; nothing was stored
//	the event handler, a tagger, an adapter or   –                 the actor fails; nothing was stored
//	a predicate of snapshots panics
//	what is chained, or a signal handler, panics –                 the actor fails; the events are stored
//	events of an unregistered type, too large,   PersistRejected   it fails with *RejectedError; nothing was
//	or that could not be read again                                stored, and it may resume
//	ErrUnavailable, ErrFull, ErrUnknown          –                 the same request is sent again, see
//	                                                               OnPersistFailure
//	the same for longer than PersistTimeout      PersistFailed     it fails with the error
//	ErrFenced, any other error                   PersistFailed     it fails with the error
//	recovery cannot be completed                 RecoveryFailed    it fails with *RecoveryError
//	the store does not answer recovery within    RecoveryFailed    it fails with *RecoveryError
//	RecoveryTimeout
//	the handler of RecoveryCompleted panics      RecoveryFailed    it fails with *RecoveryError
//	a snapshot cannot be read by recovery        SnapshotSkipped   an older one is taken, or events alone
//	a snapshot cannot be saved, or not decoded   SnapshotFailed    a warning is logged, and nothing is deleted
//	old events or snapshots cannot be deleted    Delete…Failed     a warning is logged
//
// Failures are those of any actor: supervision decides. A restart recovers anew; give it
// a [actor.Backoff], as a journal that is down fails again at once. Commands that wait
// in the mailbox stay there. Those that are put aside by [Stash] stay so while a request is
// sent again; in a restart after a failure of the journal they go behind those in the
// mailbox, to be handled anew; in any other they are dead letters, as what they were
// waiting for is gone. After a failure of the journal there is nothing to resume: each
// further command fails the actor with the same error.
//
// A store that does not heed the contexts of its calls holds nobody up. One second after
// the end of the context of a call the actor abandons it: an error is logged with the path of
// the actor, the persistence id, the call and how long it has been running, and another line
// when it ends after all. An abandoned claim or append may still be carried out. Recovery of
// an id that has four abandoned calls fails at once, until one of them has ended.
//
// There is no circuit breaker. The backoffs of [OnPersistFailure] and of supervision are
// what spares a journal that is down, and [LimitRecoveries] one that has just come back.
//
// # Snapshots
//
// [SnapshotEvery] and [SnapshotWhen] store the state now and then, so that recovery begins
// there. It is an optimization: events are kept, unless [DeleteEvents] says that they may
// go. A snapshot is decoded before it is saved, and read back from the store before
// anything is deleted for it. One that cannot be decoded any more, as its type has changed or
// is not registered, is passed over: recovery takes the next older one and the events that
// follow, or the events alone. It fails when these have been deleted; register the old type
// then.
//
// # Old events
//
// Events outlive the code that has stored them. [FromJournal] sees each event before the
// event handler does, under the name of its type and in its version, and returns what it
// means today: another event, several, or none. [ToJournal] separates the form that events
// have in the journal from the one that handlers work with, and gives them versions. What
// is stored stays as it is.
//
// Adapters belong to the behavior: who reads the journal by other means, as projections do,
// gets what is stored.
//
// # Many actors
//
// An actor that is seldom used need not live all the time: with [PassivateAfter] it ends
// when it has nothing to do. Let one parent spawn such actors when there is something to
// tell them, and watch them: what it has told one that was just ending comes back as a
// dead letter. Of those that start at the same time [LimitRecoveries] lets some read.
//
// # What is not guaranteed
//
// Nothing is exactly-once beyond the journal: commands are delivered at most once, and
// side effects are done at most once. Events of different persistence ids are not
// stored together. Reads are not fenced.
//
// # Durable state
//
// Where only the latest state matters, and not how it came about, [NewDurableState] stores
// that: behaviors.DurableState. Its command handler returns [PersistState] with the new
// value, [DeleteState], or any other effect, and knows the revision, which grows by one
// with each. Everything above holds for it, with "value" for "event"; the journals are the
// same. Readers across persistence ids find the latest value and deletions, not
// necessarily each value between.
//
// # Codecs and encryption
//
// [WithCodec] encodes all payloads of a journal on their way in and out; [NewEncryption]
// is such a codec. The name of the codec is stored with each payload, so a codec or a key
// that is missing is [ErrCodec], which says which one it is. What may be done to stored
// types over the years is in docs/events.md.
//
// # Testing
//
// Use persistence/memory in a testing/synctest bubble: backoffs and timeouts take no
// time. To test recovery, stop the actor and spawn it again over the same journal; to
// test fencing, spawn a second one beside the first. Event handlers are plain functions.
// A journal of your own must pass persistence/journaltest.
package persistence
