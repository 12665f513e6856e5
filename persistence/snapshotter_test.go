package persistence_test

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
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
	inWaitingBubble(t, func(w *world) { test(w, log) }, actor.WithLogger(zap.New(core)))
}

func TestASnapshotIsTakenEveryNEvents(t *testing.T) {
	inWaitingBubble(t, func(w *world) {
		ref := w.spawn(options{SnapshotEvery: 2, KeepSnapshots: 10})
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
		ref := w.spawn(options{SnapshotEvery: 2, KeepSnapshots: 1})
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
		ref := w.spawn(options{SnapshotEvery: 2, KeepSnapshots: 10})
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
		ref := w.spawn(options{SnapshotEvery: 5, KeepSnapshots: 1})
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
		ref := w.spawn(options{SnapshotEvery: 5, KeepSnapshots: 1})
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

func TestASnapshotOfAnotherTypeIsPassedOver(t *testing.T) {
	for _, typ := range []string{"int", "persistence_test.nobody"} {
		inBubble(t, func(w *world) {
			w.store("persistence_test.said", said{"a"})
			require.NoError(w, w.journal.Memory.SaveSnapshot(w.Context(), "words", journal.Snapshot{Seq: 1, Epoch: 1, Type: typ, Payload: []byte{1}}))
			w.spawn(options{OnSignal: w.signals(nil)})
			w.expect("recovered 1 [a]", "skipped 1 [a]")
		})
	}
}

// threeSnapshots leaves six events, and snapshots after every second.
func (w *world) threeSnapshots(opts options) {
	w.Helper()
	opts.SnapshotEvery, opts.KeepSnapshots = 2, 3
	ref := w.spawn(opts)
	for _, word := range []string{"a", "b", "c", "d", "e", "f"} {
		ref.Tell(say(w.to, word))
		w.replies.Expect(word)
		synctest.Wait()
	}
	w.stop(ref)
	require.Equal(w, []uint64{2, 4, 6}, w.snapshots())
}

func TestDamagedSnapshotsArePassedOverWithAWarning(t *testing.T) {
	for name, test := range map[string]struct {
		damaged []uint64
		from    []uint64
	}{
		"the newest":     {[]uint64{6}, []uint64{5}},
		"the newest two": {[]uint64{6, 4}, []uint64{3}},
		"all":            {[]uint64{6, 4, 2}, []uint64{1}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubbleWithLog(t, func(w *world, log *observer.ObservedLogs) {
				w.threeSnapshots(options{})
				w.journal.set(hooks{damaged: test.damaged})
				w.spawn().Tell(recall(w.to))
				w.replies.Expect("[abcdef]")
				require.Equal(w, test.from, w.journal.readFrom())
				lines := log.FilterMessage("damaged snapshots skipped").All()
				require.Len(w, lines, 1)
				require.Equal(w, "words", lines[0].ContextMap()["id"])
			})
		})
	}
}

func TestSnapshotsThatCannotBeLoadedFailRecoveryUnlessThatPasses(t *testing.T) {
	inBubble(t, func(w *world) {
		w.threeSnapshots(options{})
		w.journal.set(hooks{load: answers(persistence.ErrUnavailable)})
		w.spawn().Tell(recall(w.to))
		w.replies.Expect("[abcdef]")
		w.journal.set(hooks{load: always(persistence.ErrClosed)})
		require.ErrorIs(w, w.failsToRecover(), persistence.ErrClosed)
		w.journal.set(hooks{load: func(context.Context, func() error) error { panic("driver") }})
		require.ErrorContains(w, w.failsToRecover(), "driver")
	})
}

func TestDamagedSnapshotsWhoseEventsAreGoneFailRecovery(t *testing.T) {
	inBubble(t, func(w *world) {
		w.threeSnapshots(options{DeleteEvents: true})
		w.journal.set(hooks{damaged: []uint64{6, 4}})
		w.spawn().Tell(recall(w.to))
		w.replies.Expect("[abcdef]") // the oldest retained snapshot is enough
		synctest.Wait()

		w.journal.set(hooks{damaged: []uint64{6, 4, 2}})
		require.ErrorIs(w, w.failsToRecover(), persistence.ErrCorrupt)
	})
}

func TestEventsAreDeletedUpToTheOldestRetainedSnapshot(t *testing.T) {
	for keep, want := range map[int][]string{
		1: {
			"saved 2", "events gone to 2",
			"saved 4", "events gone to 4", "snapshots gone to 2",
			"saved 6", "events gone to 6", "snapshots gone to 4",
		},
		2: {
			"saved 2",
			"saved 4", "events gone to 2",
			"saved 6", "events gone to 4", "snapshots gone to 2",
		},
	} {
		t.Run(strconv.Itoa(keep), func(t *testing.T) {
			inBubble(t, func(w *world) {
				ref := w.spawn(options{SnapshotEvery: 2, KeepSnapshots: keep, DeleteEvents: true})
				for _, word := range []string{"a", "b", "c", "d", "e", "f"} {
					ref.Tell(say(w.to, word))
					w.replies.Expect(word)
					synctest.Wait()
				}
				w.stop(ref)
				require.Equal(w, want, w.journal.noted())

				ref = w.spawn()
				ref.Tell(say(w.to, "g"))
				ref.Tell(recall(w.to))
				w.replies.Expect("g")
				w.replies.Expect("[abcdefg]")
				sent := w.journal.sent()
				require.EqualValues(w, 7, sent[len(sent)-1].Records[0].Seq)
			})
		})
	}
}

func TestNoEventIsDeletedForASnapshotThatWasNotSaved(t *testing.T) {
	inBubble(t, func(w *world) {
		w.journal.set(hooks{save: always(persistence.ErrFull)})
		ref := w.spawn(options{SnapshotEvery: 1, KeepSnapshots: 1, DeleteEvents: true})
		ref.Tell(say(w.to, "a"))
		w.stop(ref)
		require.Empty(w, w.journal.noted())
		require.Equal(w, "a", w.events())
	})
}

func TestASnapshotIsTakenWhenThePredicateSaysSo(t *testing.T) {
	type asked struct {
		heard, word string
		seq         uint64
	}
	inBubble(t, func(w *world) {
		var all []asked
		when := func(heard string, s said, seq uint64) bool {
			all = append(all, asked{heard, s.Word, seq})
			return s.Word == "."
		}
		ref := w.spawn(options{SnapshotWhen: when, KeepSnapshots: 10})
		ref.Tell(say(w.to, "a", "."))
		ref.Tell(say(w.to, "b"))
		ref.Tell(say(w.to, ".", "c", "."))
		w.stop(ref)
		require.Equal(w, []uint64{2, 6}, w.snapshots())
		require.Equal(w, []asked{{"a", "a", 1}, {"a.", ".", 2}, {"a.b", "b", 3}, {"a.b.", ".", 4}}, all, "it is not asked when one is due already")
		w.spawn(options{SnapshotWhen: when, KeepSnapshots: 10}).Tell(recall(w.to))
		synctest.Wait()
		require.Len(w, all, 4, "not at replay")
	})
}

func TestPredicateAndNumberWorkSideBySideAndTheGreaterRetentionCounts(t *testing.T) {
	inBubble(t, func(w *world) {
		full := func(_ string, s said, _ uint64) bool { return s.Word == "." }
		ref := w.spawn(options{SnapshotWhen: full, SnapshotEvery: 3, KeepSnapshots: 2})
		for _, word := range []string{"a", ".", "b", "c"} {
			ref.Tell(say(w.to, word))
			w.replies.Expect(word)
			synctest.Wait()
		}
		require.Equal(w, []uint64{2, 3}, w.snapshots())
	})
}

func TestAPanicInThePredicateStoresNothing(t *testing.T) {
	inBubble(t, func(w *world) {
		ref, failures := w.mortal(words(w.journal, options{SnapshotWhen: func(string, said, uint64) bool { panic("boom") }, KeepSnapshots: 1}))
		ref.Tell(say(w.to, "a"))
		var panicked *actor.PanicError
		require.ErrorAs(w, failures.Receive(), &panicked)
		require.Empty(w, w.events())
	})
}

func TestASnapshotThatCannotBeSavedIsAWarning(t *testing.T) {
	inBubbleWithLog(t, func(w *world, log *observer.ObservedLogs) {
		w.journal.set(hooks{save: answers(persistence.ErrFull)})
		ref := w.spawn(options{SnapshotEvery: 1, KeepSnapshots: 1})
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
		ref := w.spawn(options{SnapshotEvery: 1, KeepSnapshots: 10})
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
		ref := w.spawn(options{SnapshotEvery: 1, KeepSnapshots: 1, PersistTimeout: time.Second})
		ref.Tell(say(w.to, "a"))
		w.stop(ref)
		w.replies.Expect("a")
	})
}
