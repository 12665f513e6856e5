package persistence_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/codec"
	"github.com/understudy-go/understudy/persistence/journal"
)

func TestAnActorOfAForgottenIDEndsAndIsNotRestarted(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.spawn()
		ref.Tell(say(w.to, "a"))
		require.Equal(w, "a", w.replies.Receive())
		require.NoError(w, persistence.Forget(w.Context(), w.journal, "words"))
		ref.Tell(say(w.to, "b"))
		w.replies.ExpectTerminated(ref)
		require.Empty(w, w.events())

		supervised := actor.Spawn(w.system, behaviors.Supervise(words(w.journal), actor.Strategy{Backoff: actor.Backoff{Min: 1}}), "")
		w.replies.ExpectTerminated(supervised)

		require.NoError(w, persistence.Revive(w.Context(), w.journal, "words"))
		fresh := w.spawn()
		fresh.Tell(recall(w.to))
		require.Equal(w, "[]", w.replies.Receive())
		fresh.Tell(say(w.to, "c"))
		require.Equal(w, "c", w.replies.Receive())
		require.Equal(w, "c", w.events())
	})
}

func TestForgettingConcernsTheRefusedMessagesOfAQueue(t *testing.T) {
	j := journal.NewMemory()
	for _, id := range []string{"orders", "orders/refused"} {
		_, err := j.Claim(t.Context(), id, journal.WriterID{}, journal.Bounds{})
		require.NoError(t, err)
	}
	require.NoError(t, persistence.Forget(t.Context(), j, "orders"))
	_, err := j.Claim(t.Context(), "orders/refused", journal.WriterID{}, journal.Bounds{})
	require.ErrorIs(t, err, persistence.ErrForgotten)
	require.ErrorIs(t, err, persistence.ErrFenced)
	require.NoError(t, persistence.Revive(t.Context(), j, "orders"))
	_, err = j.Claim(t.Context(), "orders/refused", journal.WriterID{}, journal.Bounds{})
	require.NoError(t, err)
}

// plainJournal hides what the journal in it can do beside the methods of Journal.
type plainJournal struct{ journal.Journal }

func TestAJournalThatCannotForgetSaysSo(t *testing.T) {
	for _, j := range []persistence.Journal{plainJournal{journal.NewMemory()}, codec.Wrap(plainJournal{journal.NewMemory()}, codec.Plain)} {
		for _, do := range []func(context.Context, persistence.Journal, string) error{persistence.Forget, persistence.Revive} {
			err := do(t.Context(), j, "x")
			require.ErrorIs(t, err, errors.ErrUnsupported)
			require.ErrorContains(t, err, "keep what must be forgotten in package sqlite")
		}
	}
	require.Error(t, persistence.Forget(t.Context(), nil, "x"))
	require.ErrorIs(t, persistence.Forget(t.Context(), journal.NewMemory(), ""), persistence.ErrInvalid)
	longest := strings.Repeat("x", journal.MaxIDLength)
	require.NoError(t, persistence.Forget(t.Context(), journal.NewMemory(), longest))
	require.NoError(t, persistence.Revive(t.Context(), journal.NewMemory(), longest))
}
