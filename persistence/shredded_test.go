package persistence_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/codec"
)

// bySpeaker says that words are of the subject in their tag; the state is of none.
func bySpeaker(at codec.PayloadID) string {
	if len(at.Tags) == 0 {
		return ""
	}
	return at.Tags[0]
}

func TestEventsOfAForgottenSubjectAreLeftOutOfTheState(t *testing.T) {
	subjects := codec.NewSubjects(codec.NewMemoryKeys(), bySpeaker)
	inBubbleOf(t, func(f *faulty) persistence.Journal { return codec.Wrap(f, subjects) }, func(w *world) {
		recovered := make(chan persistence.RecoveryCompleted, 1)
		opts := options{
			Tags: func(_ string, s said) []string { return []string{s.Word[:1]} },
			OnSignal: func(_ *actor.Context[command], _ string, sig persistence.Signal) persistence.Effect[said] {
				if r, ok := sig.(persistence.RecoveryCompleted); ok {
					recovered <- r
				}
				return persistence.None
			},
		}
		ref := w.spawn(opts)
		require.Equal(w, persistence.RecoveryCompleted{Epoch: 1}, <-recovered)
		ref.Tell(say(w.to, "a1", "b1", "a2"))
		for _, word := range []string{"a1", "b1", "a2"} {
			w.replies.Expect(word)
		}
		w.stop(ref)
		require.NoError(w, subjects.Forget(w.Context(), "a"))

		ref = w.spawn(opts)
		require.Equal(w, persistence.RecoveryCompleted{Seq: 3, Epoch: 2, Shredded: 2}, <-recovered)
		ref.Tell(say(w.to, "b2"))
		w.replies.Expect("b2")
		ref.Tell(recall(w.to))
		w.replies.Expect("[b1b2]")
		w.stop(ref)

		child, failures := w.mortal(words(w.journal, opts))
		<-recovered
		child.Tell(say(w.to, "a3"))
		require.ErrorIs(w, failures.Receive(), codec.ErrForgotten, "nothing more is stored for the subject")
	})
}

func TestAStateWhoseSubjectIsForgottenBeginsAnew(t *testing.T) {
	subjects := codec.NewSubjects(codec.NewMemoryKeys(), nil)
	inBubbleOf(t, func(f *faulty) persistence.Journal { return codec.Wrap(f, subjects) }, func(w *world) {
		ref := w.spawn(options{SnapshotEvery: 2})
		ref.Tell(say(w.to, "a", "b"))
		w.replies.Expect("a")
		w.replies.Expect("b")
		time.Sleep(time.Second) // for the snapshot
		w.stop(ref)
		require.NoError(w, subjects.Forget(w.Context(), "words"))
		ref = w.spawn(options{SnapshotEvery: 2})
		ref.Tell(recall(w.to))
		w.replies.Expect("[]")
	})
}

func TestATimerWhoseSubjectIsForgottenIsRemovedWhenItIsDue(t *testing.T) {
	inBell(t, func(b *bell) {
		subjects := codec.NewSubjects(codec.NewMemoryKeys(), nil)
		b.store = codec.Wrap(b.store, subjects)
		b.handle = func(_ string, n nudge) persistence.Effect[said] { return b.schedule("k", time.Minute) }
		ref := b.spawn()
		ref.Tell(nudge{"begin"})
		time.Sleep(time.Second)
		b.stop(ref)
		require.NoError(b, subjects.Forget(b.Context(), "bell"))
		ref = b.spawn()
		time.Sleep(time.Second)
		require.Equal(b, []string{"k"}, b.stored())
		time.Sleep(time.Hour)
		require.Empty(b, b.stored())
		require.Empty(b, b.heard())
		b.stop(ref)
	})
}
