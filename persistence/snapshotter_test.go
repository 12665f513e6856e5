package persistence_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
)

func (w *world) snapshots() []uint64 {
	w.Helper()
	seqs, err := w.journal.Snapshots(w.Context(), "words")
	require.NoError(w, err)
	return seqs
}

// inBubbleWithLog is inBubble with a log that the test reads.
func inBubbleWithLog(t *testing.T, test func(w *world, log *observer.ObservedLogs)) {
	t.Helper()
	core, log := observer.New(zap.WarnLevel)
	inBubble(t, func(w *world) { test(w, log) }, actor.WithLogger(zap.New(core)))
}

func TestASnapshotIsTakenEveryNEvents(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.spawn(persistence.SnapshotEvery(2, 10))
		for _, word := range []string{"a", "b", "c", "d", "e", "f", "g"} {
			ref.Tell(say(w.to, word))
			w.replies.Expect(word)
			synctest.Wait()
		}
		require.Equal(w, []uint64{2, 4, 6}, w.snapshots())
	})
}

func TestOnlyTheNewestSnapshotsAreKept(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.spawn(persistence.SnapshotEvery(2, 1))
		for i, word := range []string{"a", "b", "c", "d", "e", "f"} {
			ref.Tell(say(w.to, word))
			w.replies.Expect(word)
			synctest.Wait()
			if i%2 == 1 {
				require.Equal(w, []uint64{uint64(i + 1)}, w.snapshots())
			}
		}
	})
}

func TestABatchThatCrossesMultiplesIsFollowedByOneSnapshot(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.spawn(persistence.SnapshotEvery(2, 10))
		ref.Tell(say(w.to, "a"))
		ref.Tell(say(w.to, "b", "c", "d", "e"))
		w.stop(ref)
		require.Equal(w, []uint64{5}, w.snapshots())
		w.spawn().Tell(recall(w.to))
		for _, want := range []string{"a", "b", "c", "d", "e", "[abcde]"} {
			w.replies.Expect(want)
		}
		require.Empty(w, w.journal.readFrom(), "the snapshot has all")
	})
}

func TestRecoveryReadsOnlyWhatFollowsTheSnapshot(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.spawn(persistence.SnapshotEvery(5, 1))
		for _, word := range []string{"a", "b", "c", "d", "e", "f", "g"} {
			ref.Tell(say(w.to, word))
			w.replies.Expect(word)
		}
		w.stop(ref)
		w.spawn().Tell(recall(w.to)) // also without the option
		w.replies.Expect("[abcdefg]")
		require.Equal(w, []uint64{6}, w.journal.readFrom())
	})
}

func TestASnapshotStandsInForDeletedEvents(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.spawn(persistence.SnapshotEvery(5, 1))
		ref.Tell(say(w.to, "a", "b", "c", "d", "e"))
		w.stop(ref)
		require.NoError(w, w.journal.DeleteTo(w.Context(), "words", 1, 5))

		ref = w.spawn()
		ref.Tell(say(w.to, "f"))
		ref.Tell(recall(w.to))
		for _, want := range []string{"a", "b", "c", "d", "e", "f", "[abcdef]"} {
			w.replies.Expect(want)
		}
		sent := w.journal.sent()
		require.EqualValues(w, 6, sent[len(sent)-1].Records[0].Seq)
	})
}

func TestASnapshotOfAnotherTypeFailsRecovery(t *testing.T) {
	inBubble(t, func(w *world) {
		w.store("persistence_test.said", said{"a"})
		require.NoError(w, w.journal.Journal.SaveSnapshot(w.Context(), "words", persistence.Snapshot{Seq: 1, Epoch: 1, Type: "int", Payload: []byte{1}}))
		require.ErrorContains(w, w.failsToRecover(), "snapshot at 1")
	})
}

func TestDamagedSnapshotsArePassedOverWithAWarning(t *testing.T) {
	inBubbleWithLog(t, func(w *world, log *observer.ObservedLogs) {
		w.store("persistence_test.said", said{"a"})
		w.journal.set(hooks{load: func() []uint64 { return []uint64{9, 7} }})
		w.spawn().Tell(recall(w.to))
		w.replies.Expect("[a]")
		lines := log.FilterMessage("damaged snapshots passed over").All()
		require.Len(w, lines, 1)
		require.Equal(w, "words", lines[0].ContextMap()["id"])
	})
}

func TestASnapshotThatCannotBeSavedIsAWarning(t *testing.T) {
	inBubbleWithLog(t, func(w *world, log *observer.ObservedLogs) {
		w.journal.set(hooks{save: answers(persistence.ErrFull)})
		ref := w.spawn(persistence.SnapshotEvery(1, 1))
		ref.Tell(say(w.to, "a"))
		w.replies.Expect("a")
		synctest.Wait()
		require.Equal(w, 1, log.FilterMessage("snapshot not saved").Len())
		ref.Tell(say(w.to, "b"))
		w.replies.Expect("b")
		synctest.Wait()
		require.Equal(w, []uint64{2}, w.snapshots())
	})
}

func TestSavingASnapshotHoldsNobodyUpAndPassesOverWhatIsOutdated(t *testing.T) {
	inBubble(t, func(w *world) {
		w.journal.set(hooks{save: slowly})
		ref := w.spawn(persistence.SnapshotEvery(1, 10))
		begun := time.Now()
		for _, word := range []string{"a", "b", "c", "d"} {
			ref.Tell(say(w.to, word))
			w.replies.Expect(word)
		}
		require.Zero(w, time.Since(begun))
		w.stop(ref)
		require.Equal(w, 2*time.Second, time.Since(begun), "a stop waits for what is being saved")
		require.Equal(w, []uint64{1, 4}, w.snapshots())
	})
}

func TestASnapshotStoreThatDoesNotAnswerHoldsUpAStopForABoundedTime(t *testing.T) {
	inBubble(t, func(w *world) {
		w.journal.set(hooks{save: func(ctx context.Context, _ func() error) error { <-ctx.Done(); return ctx.Err() }})
		ref := w.spawn(persistence.SnapshotEvery(1, 1), persistence.PersistTimeout(time.Second))
		ref.Tell(say(w.to, "a"))
		w.stop(ref)
		w.replies.Expect("a")
	})
}
