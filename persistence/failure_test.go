package persistence_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/tenure"
	"github.com/understudy-go/understudy/persistence"
)

func always(err error) func(context.Context, func() error) error {
	return func(context.Context, func() error) error { return err }
}

// supervised restarts the actor of these tests after every failure.
func (w *world) supervised(decide func(error) actor.Directive, opts ...persistence.Option) actor.ActorRef[command] {
	return actor.Spawn(w.system, behaviors.Supervise(words(w.journal, opts...), actor.Strategy{Decide: decide}), "")
}

func resume(error) actor.Directive { return actor.Resume }

func TestEventsOfOneEffectAreStoredTogetherOrNotAtAll(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.supervised(nil, options{OnPersistFailure: actor.Backoff{Min: -1}})
		w.journal.set(hooks{append: answers(persistence.ErrFull)})
		ref.Tell(say(w.to, "a", "b", "c"))
		synctest.Wait()
		ref.Tell(recall(w.to))
		w.replies.Expect("[]")
		ref.Tell(say(w.to, "d", "e"))
		w.replies.Expect("d")
		w.replies.Expect("e")
		require.Equal(w, "de", w.events())
	})
}

func TestAPanicInTheEventHandlerStoresNothing(t *testing.T) {
	inBubble(t, func(w *world) {
		ref, failures := w.mortal(words(w.journal))
		ref.Tell(say(w.to, "a"))
		ref.Tell(say(w.to, "b", "!", "c"))
		w.replies.Expect("a")
		var panicked *actor.PanicError
		require.ErrorAs(w, failures.Receive(), &panicked)
		require.Equal(w, "too loud", panicked.Value)
		require.Equal(w, "a", w.events())
		w.replies.ExpectNone(time.Hour)
	})
}

func TestAPanicInWhatIsChainedDoesNotUnstoreTheEvents(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.supervised(resume)
		ref.Tell(func(*actor.Context[command], string) persistence.Effect[said] {
			return persistence.Persist(said{"a"}).Then(func() { panic("boom") })
		})
		ref.Tell(say(w.to, "b"))
		ref.Tell(recall(w.to))
		w.replies.Expect("b")
		w.replies.Expect("[ab]")
	})
}

func TestWaitingCommandsOutlastAFailureOfTheJournalThatPasses(t *testing.T) {
	for _, failure := range []error{persistence.ErrUnavailable, persistence.ErrFull, persistence.ErrUnknown} {
		t.Run(failure.Error(), func(t *testing.T) {
			inBubble(t, func(w *world) {
				w.journal.set(hooks{append: answers(failure, failure, failure)})
				ref := w.spawn(options{OnPersistFailure: actor.Backoff{Min: time.Second, Max: 2 * time.Second}})
				ref.Tell(say(w.to, "a"))
				ref.Tell(say(w.to, "b"))
				w.replies.ExpectNone(5*time.Second - 1)
				w.replies.Expect("a")
				w.replies.Expect("b")
				require.Equal(w, "ab", w.events())
			})
		})
	}
}

func TestWaitingCommandsOutlastAPanic(t *testing.T) {
	inBubble(t, func(w *world) {
		lost := w.deadLetters()
		w.journal.set(hooks{append: slowly})
		ref := w.supervised(nil)
		ref.Tell(say(w.to, "a"))
		ref.Tell(explode)
		ref.Tell(recall(w.to))
		w.replies.Expect("a")
		w.replies.Expect("[a]")
		lost.ExpectNone(time.Hour)
	})
}

func TestWaitingCommandsGoOnWhenAnActorResumes(t *testing.T) {
	inBubble(t, func(w *world) {
		w.journal.set(hooks{append: slowly})
		ref := w.supervised(resume)
		ref.Tell(say(w.to, "a"))
		ref.Tell(explode)
		ref.Tell(recall(w.to))
		ref.Tell(func(ctx *actor.Context[command], _ string) persistence.Effect[said] {
			ctx.Self().Tell(say(w.to, "c"))
			panic("boom")
		})
		ref.Tell(say(w.to, "b"))
		for _, want := range []string{"a", "[a]", "b", "c"} {
			w.replies.Expect(want)
		}
	})
}

func TestAnUnknownOutcomeIsSettledByTheVerySameRequest(t *testing.T) {
	for name, stored := range map[string]bool{"stored": true, "not stored": false} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				var calls atomic.Int32
				w.journal.set(hooks{append: func(_ context.Context, apply func() error) error {
					if calls.Add(1) > 1 {
						return apply()
					}
					if stored {
						require.NoError(w, apply())
					}
					return persistence.ErrUnknown
				}})
				w.spawn().Tell(say(w.to, "a", "b"))
				w.replies.Expect("a")
				w.replies.Expect("b")
				require.Equal(w, "ab", w.events())
				sent := w.journal.sent()
				require.Len(w, sent, 2)
				require.Equal(w, sent[0], sent[1])
			})
		})
	}
}

func TestAJournalThatStaysDownFailsTheActor(t *testing.T) {
	inBubble(t, func(w *world) {
		lost := w.deadLetters()
		w.journal.set(hooks{append: always(persistence.ErrUnavailable)})
		ref, failures := w.mortal(words(w.journal, options{PersistTimeout: time.Minute}))
		ref.Tell(say(w.to, "a"))
		ref.Tell(recall(w.to))
		failures.ExpectNone(50 * time.Second)
		failures.Within(10*time.Second, func() { require.ErrorIs(w, failures.Receive(), persistence.ErrUnavailable) })
		require.ErrorIs(w, lost.Receive().Reason, actor.ErrTerminated)
		lost.ExpectNone(0)
		w.replies.ExpectNone(time.Hour)
	})
}

func TestAJournalThatDoesNotAnswerFailsTheActor(t *testing.T) {
	inBubble(t, func(w *world) {
		w.journal.set(hooks{append: func(ctx context.Context, _ func() error) error {
			<-ctx.Done()
			return errors.Join(persistence.ErrUnknown, ctx.Err())
		}})
		ref, failures := w.mortal(words(w.journal))
		ref.Tell(say(w.to, "a"))
		failures.ExpectNone(30*time.Second - 1)
		require.ErrorIs(w, failures.Receive(), persistence.ErrUnknown)
		require.Len(w, w.journal.sent(), 1)
	})
}

func TestWithoutBackoffAFailureOfTheJournalFailsTheActorAtOnce(t *testing.T) {
	inBubble(t, func(w *world) {
		w.journal.set(hooks{append: always(persistence.ErrUnavailable)})
		ref, failures := w.mortal(words(w.journal, options{OnPersistFailure: actor.Backoff{Min: -1}}))
		begun := time.Now()
		ref.Tell(say(w.to, "a"))
		require.ErrorIs(w, failures.Receive(), persistence.ErrUnavailable)
		require.Zero(w, time.Since(begun))
	})
}

func TestARejectionIsAnOrdinaryFailureThatIsNotTriedAgain(t *testing.T) {
	for _, cause := range []error{persistence.ErrTooLarge, persistence.ErrConflict, persistence.ErrInvalid} {
		t.Run(cause.Error(), func(t *testing.T) {
			inBubble(t, func(w *world) {
				w.journal.set(hooks{append: answers(cause)})
				var failure error
				ref := w.supervised(func(err error) actor.Directive { failure = err; return actor.Resume })
				ref.Tell(say(w.to, "a"))
				ref.Tell(say(w.to, "b"))
				ref.Tell(recall(w.to))
				w.replies.Expect("b")
				w.replies.Expect("[b]")
				require.Equal(w, "b", w.events())
				var rejected *persistence.RejectedError
				require.ErrorAs(w, failure, &rejected)
				require.Equal(w, "words", rejected.ID)
				require.ErrorIs(w, failure, cause)
			})
		})
	}
}

func TestEventsOfAnUnregisteredTypeAreRejectedWithAHint(t *testing.T) {
	type unregistered struct{}
	inBubble(t, func(w *world) {
		var failure error
		b := behaviors.EventSourced("words", w.journal, 0,
			func(n int, _ any) int { return n + 1 },
			func(_ *actor.Context[any], n int, event any) persistence.Effect[any] {
				return persistence.ThenReply(persistence.Persist(event), w.to, "stored")
			})
		ref := actor.Spawn(w.system, behaviors.Supervise(b, actor.Strategy{
			Decide: func(err error) actor.Directive { failure = err; return actor.Resume },
		}), "")
		ref.Tell(unregistered{})
		ref.Tell("registered")
		w.replies.Expect("stored")
		var rejected *persistence.RejectedError
		require.ErrorAs(w, failure, &rejected)
		require.ErrorContains(w, failure, "actor.RegisterType[persistence_test.unregistered]")
		require.Len(w, w.journal.sent(), 1)
	})
}

// An utterance asks to store a word.
type utterance struct{ ReplyTo actor.ActorRef[string] }

// An asker learns why its event was not stored, and not only that the actor has ended.
func TestAnAskWhoseEventIsNotStoredEndsWithTheReason(t *testing.T) {
	for _, cause := range []error{persistence.ErrTooLarge, persistence.ErrInvalid, persistence.ErrConflict, persistence.ErrFenced, errors.New("broken")} {
		t.Run(cause.Error(), func(t *testing.T) {
			inBubble(t, func(w *world) {
				w.journal.set(hooks{append: answers(cause)})
				ref := actor.Spawn(w.system, behaviors.EventSourced("words", w.journal, "", hear,
					func(_ *actor.Context[utterance], _ string, u utterance) persistence.Effect[said] {
						return persistence.ThenReply(persistence.Persist(said{"a"}), u.ReplyTo, "stored")
					}), "")
				_, err := actor.AskTimeout(w.Context(), ref, time.Hour, func(r actor.ActorRef[string]) utterance { return utterance{r} })
				require.ErrorIs(w, err, cause)
				require.NotErrorIs(w, err, actor.ErrTerminated)
			})
		})
	}
}

func TestANewerWriterFencesOffTheOlder(t *testing.T) {
	inBubble(t, func(w *world) {
		older, failures := w.mortal(words(w.journal))
		older.Tell(say(w.to, "a"))
		w.replies.Expect("a")

		newer := w.spawn()
		newer.Tell(say(w.to, "b"))
		w.replies.Expect("b")
		older.Tell(say(w.to, "c"))
		require.ErrorIs(w, failures.Receive(), persistence.ErrFenced)
		newer.Tell(recall(w.to))
		w.replies.Expect("[ab]")
		require.Equal(w, "ab", w.events())
		require.Len(w, w.journal.sent(), 3, "a fenced write is not tried again")
	})
}

func TestAfterAFailureOfTheJournalThereIsNothingToResume(t *testing.T) {
	inBubble(t, func(w *world) {
		broken := errors.New("broken")
		w.journal.set(hooks{append: func(context.Context, func() error) error { return broken }})
		var failures []error
		ref := w.supervised(func(err error) actor.Directive { failures = append(failures, err); return actor.Resume })
		ref.Tell(say(w.to, "a"))
		synctest.Wait()
		ref.Tell(recall(w.to))
		w.replies.ExpectNone(time.Hour)
		synctest.Wait()
		require.Len(w, failures, 2)
		for _, err := range failures {
			require.ErrorIs(w, err, broken)
		}
		require.Len(w, w.journal.sent(), 1)
	})
}

func TestNoSupervisionRestartsAFencedActor(t *testing.T) {
	inBubble(t, func(w *world) {
		older := w.supervised(func(error) actor.Directive { t.Error("the strategy is asked"); return actor.Restart })
		older.Tell(recall(w.to))
		w.replies.Expect("[]")
		w.spawn()
		synctest.Wait()
		older.Tell(say(w.to, "a"))
		w.replies.ExpectTerminated(older)
	})
}

func TestAPanicOfTheJournalFailsTheActor(t *testing.T) {
	inBubble(t, func(w *world) {
		w.journal.set(hooks{append: func(context.Context, func() error) error { panic("driver") }})
		ref, failures := w.mortal(words(w.journal))
		ref.Tell(say(w.to, "a"))
		var panicked *actor.PanicError
		require.ErrorAs(w, failures.Receive(), &panicked)
		require.Equal(w, "driver", panicked.Value)
	})
}

func TestAWriteThatFailsWhileTheActorStopsIsNotAcknowledged(t *testing.T) {
	inBubble(t, func(w *world) {
		w.journal.set(hooks{append: func(context.Context, func() error) error {
			time.Sleep(time.Second)
			return persistence.ErrFenced
		}})
		ctx, stop := context.WithCancel(w.Context())
		ref := actor.Spawn(w.system, words(w.journal), "", extension.WithContext(ctx))
		ref.Tell(say(w.to, "a"))
		synctest.Wait()
		stop()
		w.replies.ExpectTerminated(ref)
		w.replies.ExpectNone(time.Hour)
	})
}

func TestTheHostLearnsThatWritesAreFenced(t *testing.T) {
	inBubble(t, func(w *world) {
		ctx := tenure.With(w.Context(), tenure.New("", tenure.Generation{}, tenure.Hooks{Claimed: func(tenure.Claim, tenure.Generation, tenure.Generation) { w.to.Tell("fenced") }}))
		w.journal.set(hooks{claim: answers(persistence.ErrUnavailable)})
		actor.Spawn(w.system, words(w.journal), "", extension.WithContext(ctx))
		w.replies.ExpectNone(99 * time.Millisecond)
		w.replies.Expect("fenced")
		w.replies.ExpectNone(time.Hour)
	})
}
