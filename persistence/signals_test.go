package persistence_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/persistence"
)

type effect = persistence.Effect[said]

// signals returns a signal handler that tells w.to each signal and the state that it finds.
func (w *world) signals(answer func(ctx *actor.Context[command], sig persistence.Signal) effect) func(*actor.Context[command], string, persistence.Signal) effect {
	return func(ctx *actor.Context[command], heard string, sig persistence.Signal) effect {
		w.to.Tell(describe(sig) + " [" + heard + "]")
		if answer == nil {
			return persistence.Unhandled
		}
		return answer(ctx, sig)
	}
}

// describe returns the type of a signal, with its sequence numbers.
func describe(sig persistence.Signal) string {
	switch sig := sig.(type) {
	case persistence.RecoveryCompleted:
		return fmt.Sprint("recovered ", sig.Seq)
	case persistence.SnapshotSkipped:
		return fmt.Sprint("skipped ", sig.Seq)
	case persistence.SnapshotCompleted:
		return fmt.Sprint("saved ", sig.Seq)
	case persistence.SnapshotFailed:
		return fmt.Sprint("not saved ", sig.Seq)
	case persistence.EventsDeleted:
		return fmt.Sprint("events gone to ", sig.To)
	case persistence.DeleteEventsFailed:
		return fmt.Sprint("events not gone to ", sig.To)
	case persistence.SnapshotsDeleted:
		return fmt.Sprint("snapshots gone to ", sig.To)
	case persistence.DeleteSnapshotsFailed:
		return fmt.Sprint("snapshots not gone to ", sig.To)
	}
	return fmt.Sprintf("%T", sig)
}

func (w *world) expect(words ...string) {
	w.Helper()
	for _, want := range words {
		w.replies.Expect(want)
	}
}

func TestTheHandlerLearnsOfRecoveryBeforeTheFirstCommand(t *testing.T) {
	inBubble(t, func(w *world) {
		w.store("persistence_test.said", said{"a"}, said{"b"})
		w.journal.set(hooks{claim: slowly})
		ref := w.spawn(options{OnSignal: w.signals(nil)})
		ref.Tell(recall(w.to))
		w.expect("recovered 2 [ab]", "[ab]")
		w.stop(ref)
		w.expect("actor.PostStop [ab]")
		w.journal.set(hooks{})
		actor.Spawn(w.system, persistence.New("other", w.journal, "", hear, obey, options{OnSignal: w.signals(nil)}), "")
		w.expect("recovered 0 []")
	})
}

// The answer to a signal is an effect like that to a command.
func TestTheHandlerMayStoreEventsAndChainWhatFollows(t *testing.T) {
	inBubble(t, func(w *world) {
		answer := func(_ *actor.Context[command], sig persistence.Signal) effect {
			if _, ok := sig.(persistence.RecoveryCompleted); ok {
				return persistence.ThenReply(persistence.Persist(said{"up "}), w.to, "stored")
			}
			return nil
		}
		ref := w.spawn(options{OnSignal: w.signals(answer)})
		ref.Tell(recall(w.to))
		w.expect("recovered 0 []", "stored", "[up ]")
		w.stop(ref)
		w.expect("actor.PostStop [up ]")
		w.spawn(options{OnSignal: w.signals(answer)}).Tell(recall(w.to))
		w.expect("recovered 1 [up ]", "stored", "[up up ]")
	})
}

func TestAnEventInAnswerToRecoveryThatCannotBeStoredFailsTheActor(t *testing.T) {
	inBubble(t, func(w *world) {
		w.journal.set(hooks{append: always(persistence.ErrFull)})
		_, failures := w.mortal(words(w.journal, options{OnPersistFailure: actor.Backoff{Min: -1}, OnSignal: w.signals(func(*actor.Context[command], persistence.Signal) effect { return persistence.Persist(said{"x"}) })}))
		failure := failures.Receive()
		require.ErrorIs(w, failure, persistence.ErrFull)
		require.NotErrorAs(w, failure, new(*persistence.RecoveryError), "it had recovered")
		w.expect("recovered 0 []", "persistence.PersistFailed []")
	})
}

func TestTheHandlerMayStopTheActorOnceItHasRecovered(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.spawn(options{OnSignal: w.signals(func(*actor.Context[command], persistence.Signal) effect { return persistence.Stop })})
		w.replies.ExpectTerminated(ref)
		w.expect("recovered 0 []")
	})
}

// A failure of the handler fails recovery.
func TestAPanicInAnswerToRecoveryFailsIt(t *testing.T) {
	inBubble(t, func(w *world) {
		w.store("persistence_test.said", said{"a"})
		failure := w.failsToRecover(options{OnSignal: w.signals(func(_ *actor.Context[command], sig persistence.Signal) effect {
			if _, ok := sig.(persistence.RecoveryCompleted); ok {
				panic("boom")
			}
			return nil
		})})
		var panicked *actor.PanicError
		require.ErrorAs(w, failure, &panicked)
		require.EqualValues(w, 1, failure.Seq)
		w.expect("recovered 1 [a]", "persistence.RecoveryFailed []")
	})
}

func TestTheHandlerLearnsThatRecoveryHasFailed(t *testing.T) {
	inBubble(t, func(w *world) {
		w.store("persistence_test.said", said{"a"}, said{"!"})
		var told error
		failure := w.failsToRecover(options{OnSignal: w.signals(func(_ *actor.Context[command], sig persistence.Signal) effect {
			told = sig.(persistence.RecoveryFailed).Err
			panic("boom") // changes nothing
		})})
		require.Equal(w, failure, told)
		w.expect("persistence.RecoveryFailed []")
		w.replies.ExpectNone(time.Hour)
	})
}

func TestARecoveryThatAStopGivesUpHasNotFailed(t *testing.T) {
	inBubble(t, func(w *world) {
		w.journal.set(hooks{claim: slowly})
		ctx, stop := context.WithCancel(w.Context())
		ref := actor.Spawn(w.system, words(w.journal, options{OnSignal: w.signals(nil)}), "", extension.WithContext(ctx))
		synctest.Wait()
		stop()
		w.replies.ExpectTerminated(ref)
		w.replies.ExpectNone(time.Hour)
	})
}

// The state is that before the write, and the actor fails with what the signal says.
func TestTheHandlerLearnsThatAWriteHasFailed(t *testing.T) {
	for want, cause := range map[string]error{
		"persistence.PersistFailed [a]":   persistence.ErrUnavailable,
		"persistence.PersistRejected [a]": persistence.ErrTooLarge,
	} {
		t.Run(want, func(t *testing.T) {
			inBubble(t, func(w *world) {
				var told error
				ref, failures := w.mortal(words(w.journal, options{OnPersistFailure: actor.Backoff{Min: -1}, OnSignal: w.signals(func(_ *actor.Context[command], sig persistence.Signal) effect {
					switch sig := sig.(type) {
					case persistence.PersistFailed:
						told = sig.Err
					case persistence.PersistRejected:
						told = sig.Err
					default:
						return nil
					}
					return persistence.Persist(said{"never"})
				})}))
				ref.Tell(say(w.to, "a"))
				w.expect("recovered 0 []", "a")
				w.journal.set(hooks{append: always(cause)})
				ref.Tell(say(w.to, "b"))
				failure := failures.Receive()
				require.Equal(w, told, failure)
				require.ErrorIs(w, failure, cause)
				w.expect(want, "actor.PostStop [a]")
				require.Equal(w, "a", w.events())
			})
		})
	}
}

func TestAnEventThatCannotBeEncodedIsARejection(t *testing.T) {
	type unregistered struct{}
	inBubble(t, func(w *world) {
		rejected := make(chan error, 1)
		b := persistence.New("any", w.journal, 0, func(n int, _ any) int { return n + 1 },
			func(_ *actor.Context[any], _ int, event any) persistence.Effect[any] {
				return persistence.Persist(event)
			},
			persistence.Options[any, any, int]{OnSignal: func(_ *actor.Context[any], _ int, sig persistence.Signal) persistence.Effect[any] {
				if r, ok := sig.(persistence.PersistRejected); ok {
					rejected <- r.Err
				}
				return nil
			}})
		actor.Spawn(w.system, b, "").Tell(unregistered{})
		require.ErrorContains(w, <-rejected, "is not registered")
	})
}

// Signals keep their order among the commands, also while events are being stored.
func TestTheHandlerLearnsWhatBecomesOfSnapshots(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.spawn(options{OnSignal: w.signals(nil), SnapshotEvery: 2, KeepSnapshots: 1, DeleteEvents: true})
		ref.Tell(say(w.to, "a", "b"))
		w.expect("recovered 0 []", "a", "b", "saved 2 [ab]", "events gone to 2 [ab]")
		ref.Tell(say(w.to, "c", "d"))
		w.expect("c", "d", "saved 4 [abcd]", "events gone to 4 [abcd]", "snapshots gone to 2 [abcd]")

		w.journal.set(hooks{delete: always(persistence.ErrUnavailable)})
		ref.Tell(say(w.to, "e", "f"))
		w.expect("e", "f", "saved 6 [abcdef]", "events not gone to 6 [abcdef]", "snapshots not gone to 4 [abcdef]")

		w.journal.set(hooks{save: func(context.Context, func() error) error { panic("driver") }})
		ref.Tell(say(w.to, "g", "h"))
		w.expect("g", "h", "not saved 8 [abcdefgh]")
		ref.Tell(recall(w.to))
		w.expect("[abcdefgh]")
	})
}

func TestASignalFromTheBackgroundMayLeadToAnEvent(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.spawn(options{SnapshotEvery: 2, KeepSnapshots: 1, OnSignal: w.signals(func(_ *actor.Context[command], sig persistence.Signal) effect {
			if _, ok := sig.(persistence.SnapshotCompleted); ok {
				return persistence.Persist(said{"."}).ThenUnstashAll()
			}
			return nil
		})})
		ref.Tell(gated(w.to, "x"))
		ref.Tell(say(w.to, "a", "b"))
		w.expect("recovered 0 []", "a", "b", "saved 2 [ab]", "x", "saved 4 [ab.x]")
		synctest.Wait()
		require.Equal(w, "ab.x.", w.events())
	})
}

func TestTheHandlerDecidesAboutTheEndOfAWatchedActor(t *testing.T) {
	watching := func(ctx *actor.Context[command], _ string) effect {
		ctx.Watch(actor.Spawn(ctx, ended(), ""))
		return persistence.None
	}
	inBubble(t, func(w *world) {
		ref := w.spawn(options{OnSignal: w.signals(func(_ *actor.Context[command], sig persistence.Signal) effect {
			if _, ok := sig.(actor.Terminated); ok {
				return persistence.ThenReply(persistence.Persist(said{"x"}), w.to, "noted")
			}
			return nil
		})})
		ref.Tell(watching)
		w.expect("recovered 0 []", "actor.Terminated []", "noted")
		require.Equal(w, "x", w.events())
	})
	inBubble(t, func(w *world) {
		ref, failures := w.mortal(words(w.journal, options{OnSignal: w.signals(nil)}))
		ref.Tell(watching)
		require.ErrorIs(w, failures.Receive(), actor.ErrDeathPact)
		w.expect("recovered 0 []", "actor.Terminated []", "actor.PostStop []")
	})
}

func TestARestartIsSignalledAndSoIsTheRecoveryAfterIt(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.supervised(nil, options{OnSignal: w.signals(nil)})
		ref.Tell(say(w.to, "a"))
		ref.Tell(explode)
		w.expect("recovered 0 []", "a", "actor.PreRestart [a]", "recovered 1 [a]")
	})
}

func TestAPanicInTheHandlerIsAnOrdinaryFailureAndTheOtherSignalsFollow(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.supervised(resume, options{SnapshotEvery: 1, KeepSnapshots: 1, DeleteEvents: true, OnSignal: w.signals(func(_ *actor.Context[command], sig persistence.Signal) effect {
			if _, ok := sig.(persistence.SnapshotCompleted); ok {
				panic("boom")
			}
			return nil
		})})
		ref.Tell(say(w.to, "a"))
		w.expect("recovered 0 []", "a", "saved 1 [a]", "events gone to 1 [a]")
	})
}

func TestASignalCannotBePutAside(t *testing.T) {
	inBubble(t, func(w *world) {
		_, failures := w.mortal(words(w.journal, options{OnSignal: w.signals(func(*actor.Context[command], persistence.Signal) effect { return persistence.Stash })}))
		require.ErrorContains(w, failures.Receive(), "Stash is for commands")
	})
}

func TestAfterAFailureOfTheJournalTheHandlerLearnsNothingMore(t *testing.T) {
	inBubble(t, func(w *world) {
		begun, saving := make(chan struct{}), make(chan struct{})
		var failures []error
		ref := w.supervised(func(err error) actor.Directive { failures = append(failures, err); return actor.Resume },
			options{SnapshotEvery: 1, KeepSnapshots: 1, OnSignal: w.signals(nil)})
		w.journal.set(hooks{save: func(_ context.Context, apply func() error) error { close(begun); <-saving; return apply() }})
		ref.Tell(say(w.to, "a"))
		w.expect("recovered 0 []", "a")
		<-begun
		broken := errors.New("broken")
		w.journal.set(hooks{append: always(broken)})
		ref.Tell(say(w.to, "b"))
		w.expect("persistence.PersistFailed [a]")
		close(saving)
		w.replies.ExpectNone(time.Hour)
		ref.Tell(func(ctx *actor.Context[command], _ string) effect { return nil })
		synctest.Wait()
		require.Len(w, failures, 2)
		require.False(w, slices.ContainsFunc(failures, func(err error) bool { return !errors.Is(err, broken) }))
	})
}
