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
//			msg.ReplyTo.Tell(count)
//			return persistence.None
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
// changes nothing, and returns an [Effect]: [Persist] with events, [None], [Unhandled],
// [Stop] or [Stash]. The event handler says what an event makes of a state. It runs when
// an event is new and again at every replay, so it depends on nothing else: no clock, no
// chance, no side effect. It returns a new state and leaves the one that it is given as it
// is: clone maps and slices. The initial state too is handed to every incarnation.
//
// The types of events must be registered with [actor.RegisterType], under a name that
// never changes, as it is stored with each of them. The fields are CBOR by name: fields
// may be added, and those that are gone are passed over.
//
// # Durability
//
// The events of one effect are stored together or not at all. The event handler runs
// before they are written; when it panics, nothing is stored. The new state is what
// commands see once the journal has acknowledged the write, and only then what is chained
// to the effect is done, in order: [Effect.Then], [ThenReply], [Effect.ThenUnstashAll],
// [Effect.ThenStop]. So who has had a reply that was chained can rely on the events. A
// reply that the command handler itself sends goes out before.
//
// What is chained is done at most once: never on replay, and not when the process dies
// between the write and it. Who gets no reply does not know whether the events are
// stored; let commands that are sent again carry an id that events remember.
//
// # The life of the actor
//
// First it recovers: it claims its persistence id, loads the newest intact snapshot, and
// replays what follows. Damaged snapshots are passed over with a warning. Commands that
// come meanwhile wait in the mailbox, as they do during a write. I/O blocks the actor
// itself and no other.
//
// An actor that is stopped while a write is under way ends when the write has its answer,
// and what is chained has been done. A stop during recovery gives it up.
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
// # Failures
//
//	the event handler or the command handler panics    the actor fails; nothing was stored
//	what is chained to an effect panics                 the actor fails; the events are stored
//	events of an unregistered type, too large, …        it fails with *RejectedError; nothing was stored
//	ErrUnavailable, ErrFull, ErrUnknown                 the same request is sent again, see OnPersistFailure;
//	                                                    after PersistTimeout the actor fails with the error
//	ErrFenced, any other error                          it fails with the error
//	recovery cannot be completed                        it fails with *RecoveryError
//	a snapshot cannot be saved                          a warning is logged
//
// Failures are those of any actor: supervision decides. A restart recovers anew; give it
// a [actor.Backoff], as a journal that is down fails again at once. Commands that wait
// in the mailbox stay there; those put aside by [Stash] are dead letters. After a failure
// of the journal there is nothing to resume: each further command fails the actor with
// the same error.
//
// # Snapshots
//
// [SnapshotEvery] stores the state now and then, so that recovery begins there. It is an
// optimization: events are kept. A state that cannot be decoded any more fails recovery;
// register its old type, or delete the snapshots with [SnapshotStore].
//
// # What is not guaranteed
//
// Nothing is exactly-once beyond the journal: commands are delivered at most once, and
// side effects are done at most once. Events of different persistence ids are not
// stored together. Reads are not fenced.
//
// # Testing
//
// Use persistence/memory in a testing/synctest bubble: backoffs and timeouts take no
// time. To test recovery, stop the actor and spawn it again over the same journal; to
// test fencing, spawn a second one beside the first. Event handlers are plain functions.
// A journal of your own must pass persistence/journaltest.
package persistence
