package persistence_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
)

// slowly makes each call take a second, and lets the context end it.
func slowly(ctx context.Context, apply func() error) error {
	select {
	case <-time.After(time.Second):
		return apply()
	case <-ctx.Done():
		return persistence.ErrUnknown
	}
}

func TestTheStateOutlivesTheActor(t *testing.T) {
	inBubble(t, func(w *world) {
		first := w.spawn()
		first.Tell(say(w.to, "a"))
		first.Tell(say(w.to, "b", "c"))
		w.stop(first)

		w.spawn().Tell(recall(w.to))
		for _, want := range []string{"a", "b", "c", "[abc]"} {
			w.replies.Expect(want)
		}
	})
}

func TestARestartReplaysTheEvents(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := actor.Spawn(w.system, behaviors.Supervise(words(w.journal), actor.Strategy{}), "")
		ref.Tell(say(w.to, "a"))
		w.replies.Expect("a")
		ref.Tell(explode)
		ref.Tell(recall(w.to))
		w.replies.Expect("[a]")
	})
}

func TestAReplyGoesOutOnlyWhenTheJournalHasAcknowledged(t *testing.T) {
	inBubble(t, func(w *world) {
		w.journal.set(hooks{append: slowly})
		w.spawn().Tell(say(w.to, "a"))
		w.replies.ExpectNone(999 * time.Millisecond)
		w.replies.Expect("a")
	})
}

func TestCommandsWaitForRecoveryAndRunInOrder(t *testing.T) {
	inBubble(t, func(w *world) {
		w.journal.set(hooks{claim: slowly})
		ref := w.spawn()
		for _, word := range []string{"a", "b", "c"} {
			ref.Tell(say(w.to, word))
		}
		ref.Tell(recall(w.to))
		w.replies.ExpectNone(999 * time.Millisecond)
		for _, want := range []string{"a", "b", "c", "[abc]"} {
			w.replies.Expect(want)
		}
	})
}

func TestCommandsWaitForAWriteAndRunInOrder(t *testing.T) {
	inBubble(t, func(w *world) {
		w.journal.set(hooks{append: slowly})
		ref := w.spawn()
		ref.Tell(recall(w.to))
		ref.Tell(say(w.to, "a"))
		ref.Tell(recall(w.to))
		ref.Tell(recall(w.to))
		ref.Tell(say(w.to, "b"))
		ref.Tell(recall(w.to))
		w.replies.Expect("[]")
		w.replies.ExpectNone(999 * time.Millisecond)
		for _, want := range []string{"a", "[a]", "[a]"} {
			w.replies.Expect(want)
		}
		w.replies.ExpectNone(999 * time.Millisecond)
		for _, want := range []string{"b", "[ab]"} {
			w.replies.Expect(want)
		}
	})
}

// ended is an actor that ends at once.
func ended() actor.Behavior[int] {
	return behaviors.Setup(func(*actor.Context[int]) actor.Behavior[int] { return behaviors.Stopped })
}

func TestWhatIsChainedRunsInOrderAndNeverOnReplay(t *testing.T) {
	inBubble(t, func(w *world) {
		tell := func(s string) func() { return func() { w.to.Tell(s) } }
		first := w.spawn()
		first.Tell(func(*actor.Context[command], string) persistence.Effect[said] {
			effect := persistence.Persist(said{"a"}, said{"b"}).Then(tell("1")).ThenStop().Then(tell("2"))
			return persistence.ThenReply(effect, w.to, "3").Then(tell("4"))
		})
		for _, want := range []string{"1", "2", "3", "4"} {
			w.replies.Expect(want)
		}
		w.replies.ExpectTerminated(first)

		w.spawn().Tell(recall(w.to))
		w.replies.Expect("[ab]")
		w.replies.ExpectNone(time.Hour)
	})
}

func TestWhatIsChainedToNoEventsRunsAtOnce(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.spawn()
		ref.Tell(func(*actor.Context[command], string) persistence.Effect[said] {
			return persistence.ThenReply(persistence.Persist[said](), w.to, "1")
		})
		ref.Tell(func(*actor.Context[command], string) persistence.Effect[said] {
			return persistence.ThenReply(persistence.None[said], w.to, "2").ThenStop()
		})
		w.replies.Expect("1")
		w.replies.Expect("2")
		w.replies.ExpectTerminated(ref)
		require.Empty(w, w.journal.sent())
	})
}

func TestAnUnhandledCommandIsPublished(t *testing.T) {
	inBubble(t, func(w *world) {
		unhandled := testkit.NewProbe[actor.UnhandledMessage](w, w.system)
		actor.Subscribe(w.system, unhandled.Ref())
		w.journal.set(hooks{append: slowly})
		ref := w.spawn()
		ref.Tell(say(w.to, "a"))
		ref.Tell(func(*actor.Context[command], string) persistence.Effect[said] { return persistence.Unhandled })
		m := unhandled.Receive()
		require.Equal(w, ref.Path(), m.Recipient)
		require.IsType(w, command(nil), m.Message)
		w.replies.Expect("a")
	})
}

func TestANilEffectIsNone(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.spawn()
		ref.Tell(func(*actor.Context[command], string) persistence.Effect[said] { return nil })
		ref.Tell(func(*actor.Context[command], string) persistence.Effect[said] {
			var none persistence.Effect[said]
			return persistence.ThenReply(none, w.to, "nil")
		})
		w.replies.Expect("nil")
	})
}

func TestStashedCommandsRunBeforeThoseThatWait(t *testing.T) {
	inBubble(t, func(w *world) {
		w.journal.set(hooks{append: slowly})
		ref := w.spawn()
		untilOpen := func(word string) command {
			return func(_ *actor.Context[command], heard string) persistence.Effect[said] {
				if heard == "" {
					return persistence.Stash
				}
				return persistence.ThenReply(persistence.Persist(said{word}), w.to, word)
			}
		}
		ref.Tell(untilOpen("a"))
		ref.Tell(untilOpen("b"))
		ref.Tell(func(*actor.Context[command], string) persistence.Effect[said] {
			return persistence.Persist(said{"open "}).ThenUnstashAll()
		})
		ref.Tell(untilOpen("c"))
		for _, want := range []string{"a", "b", "c"} {
			w.replies.Expect(want)
		}
		require.Equal(w, "open abc", w.events())
	})
}

func TestAStashThatIsFullMakesADeadLetter(t *testing.T) {
	inBubble(t, func(w *world) {
		lost := w.deadLetters()
		ref := w.spawn(options{StashCapacity: 1})
		synctest.Wait()
		for range 2 {
			ref.Tell(func(*actor.Context[command], string) persistence.Effect[said] { return persistence.Stash })
		}
		require.ErrorIs(w, lost.Receive().Reason, actor.ErrStashFull)
		ref.Tell(recall(w.to)) // need not wait, so the stash does not matter
		w.replies.Expect("[]")
	})
}

func TestAStopDuringAWriteWaitsForItAndForWhatIsChained(t *testing.T) {
	inBubble(t, func(w *world) {
		lost := w.deadLetters()
		w.journal.set(hooks{append: slowly})
		ctx, stop := context.WithCancel(w.Context())
		ref := actor.Spawn(w.system, words(w.journal), "", extension.WithContext(ctx))
		ref.Tell(say(w.to, "a"))
		ref.Tell(say(w.to, "b"))
		synctest.Wait()
		begun := time.Now()
		stop()
		w.replies.ExpectTerminated(ref)
		require.Equal(w, time.Second, time.Since(begun))
		w.replies.Expect("a")
		require.Equal(w, "a", w.events())
		require.ErrorIs(w, lost.Receive().Reason, actor.ErrTerminated)
		lost.ExpectNone(time.Hour)
	})
}

func TestAStopDuringRecoveryGivesItUp(t *testing.T) {
	inBubble(t, func(w *world) {
		lost := w.deadLetters()
		w.journal.set(hooks{claim: slowly})
		ctx, stop := context.WithCancel(w.Context())
		ref := actor.Spawn(w.system, words(w.journal), "", extension.WithContext(ctx))
		ref.Tell(say(w.to, "a"))
		synctest.Wait()
		begun := time.Now()
		stop()
		w.replies.ExpectTerminated(ref)
		require.Zero(w, time.Since(begun))
		require.ErrorIs(w, lost.Receive().Reason, actor.ErrTerminated)
		lost.ExpectNone(time.Hour)
	})
}

func TestTheEndOfAWatchedActorIsUnhandledByDefault(t *testing.T) {
	inBubble(t, func(w *world) {
		ref, failures := w.mortal(words(w.journal))
		ref.Tell(func(ctx *actor.Context[command], _ string) persistence.Effect[said] {
			ctx.Watch(actor.Spawn(ctx, ended(), ""))
			return persistence.None
		})
		require.ErrorIs(w, failures.Receive(), actor.ErrDeathPact)
	})
}

func TestRecordsCarryTheWriterItsClaimAndTheTags(t *testing.T) {
	inBubble(t, func(w *world) {
		tagged := options{Tags: func(_ string, s said) []string { return []string{"word", s.Word} }}
		for _, word := range []string{"a", "b"} {
			ref := w.spawn(tagged)
			ref.Tell(say(w.to, word, word+word))
			w.stop(ref)
		}
		var writers []journal.WriterID
		seq := uint64(0)
		for r, err := range w.journal.Memory.Read(w.Context(), "words", 1, 10) {
			require.NoError(w, err)
			seq++
			require.Equal(w, seq, r.Seq)
			require.Equal(w, (seq+1)/2, r.Epoch)
			require.Equal(w, "persistence_test.said", r.Type)
			require.Equal(w, "word", r.Tags[0])
			require.True(w, r.Time.Equal(time.Now()), "time stands still in this bubble")
			writers = append(writers, r.Writer)
		}
		require.Len(w, writers, 4)
		require.Equal(w, writers[0], writers[1])
		require.NotEqual(w, writers[1], writers[2])
		require.NotZero(w, writers[0])
	})
}

func TestADrainedActorHandlesFirstWhatItHasBeenTold(t *testing.T) {
	inBubble(t, func(w *world) {
		w.journal.set(hooks{append: slowly})
		type drain struct{ ref actor.ActorRef[command] }
		made := make(chan actor.ActorRef[command], 1)
		parent := actor.Spawn(w.system, behaviors.Setup(func(ctx *actor.Context[drain]) actor.Behavior[drain] {
			made <- actor.Spawn(ctx, words(w.journal), "child")
			return behaviors.Receive(func(ctx *actor.Context[drain], d drain) actor.Behavior[drain] {
				ctx.Drain(d.ref)
				return behaviors.Same
			})
		}), "")
		ref := <-made
		for _, word := range []string{"a", "b", "c"} {
			ref.Tell(say(w.to, word))
		}
		synctest.Wait()
		parent.Tell(drain{ref})
		for _, word := range []string{"a", "b", "c"} {
			w.replies.Expect(word)
		}
		w.replies.ExpectTerminated(ref)
	})
}
