package persistence_test

import (
	"context"
	"iter"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

func (w *world) failsToRecover(opts ...persistence.Option) *persistence.RecoveryError {
	w.Helper()
	_, failures := w.mortal(words(w.journal, opts...))
	var failure *persistence.RecoveryError
	failures.Within(time.Hour, func() { require.ErrorAs(w, failures.Receive(), &failure) })
	require.Equal(w, "words", failure.ID)
	return failure
}

// store appends a record for each payload, like a writer that has ended.
func (w *world) store(typ string, payloads ...any) {
	w.Helper()
	claim, err := w.journal.Memory.Claim(w.Context(), "words", journal.WriterID{}, journal.Bounds{})
	require.NoError(w, err)
	req := journal.AppendRequest{ID: "words", Epoch: claim.Epoch, Prev: claim.LastSeq}
	for i, p := range payloads {
		data, err := codec.Marshal(p)
		require.NoError(w, err)
		req.Records = append(req.Records, journal.Record{
			Seq: claim.LastSeq + uint64(i) + 1, Epoch: claim.Epoch, Type: typ, Payload: data,
		})
	}
	require.NoError(w, w.journal.Memory.Append(w.Context(), []journal.AppendRequest{req})[0])
}

// slowly makes the journal wait before each record.
func (w *world) slowly(before func(n int) time.Duration) {
	w.journal.set(hooks{read: func(records iter.Seq2[journal.Record, error]) iter.Seq2[journal.Record, error] {
		return func(yield func(journal.Record, error) bool) {
			n := 0
			for r, err := range records {
				time.Sleep(before(n))
				if n++; !yield(r, err) {
					return
				}
			}
		}
	}})
}

// stalls returns the warnings that name the recovery which does not get on.
func stalls(log *observer.ObservedLogs) []observer.LoggedEntry {
	return log.FilterMessage("recovery makes little progress").FilterField(zap.String("id", "words")).All()
}

// without returns a hook that leaves out the record of seq, or those from seq on.
func without(seq uint64, andLater bool) func(iter.Seq2[journal.Record, error]) iter.Seq2[journal.Record, error] {
	return func(records iter.Seq2[journal.Record, error]) iter.Seq2[journal.Record, error] {
		return func(yield func(journal.Record, error) bool) {
			for r, err := range records {
				if r.Seq == seq || andLater && r.Seq > seq {
					continue
				}
				if !yield(r, err) {
					return
				}
			}
		}
	}
}

func TestAGapInTheEventsFailsRecovery(t *testing.T) {
	inBubble(t, func(w *world) {
		w.store("persistence_test.said", said{"a"}, said{"b"}, said{"c"})
		w.journal.set(hooks{read: without(2, false)})
		failure := w.failsToRecover()
		require.ErrorIs(w, failure, persistence.ErrCorrupt)
		require.EqualValues(w, 1, failure.Seq)
	})
}

func TestEventsThatEndTooEarlyFailRecovery(t *testing.T) {
	inBubble(t, func(w *world) {
		w.store("persistence_test.said", said{"a"}, said{"b"}, said{"c"})
		w.journal.set(hooks{read: without(3, true)})
		failure := w.failsToRecover()
		require.ErrorIs(w, failure, persistence.ErrCorrupt)
		require.EqualValues(w, 2, failure.Seq)
	})
}

func TestAnErrorAmidTheEventsFailsRecovery(t *testing.T) {
	inBubble(t, func(w *world) {
		w.store("persistence_test.said", said{"a"})
		w.journal.set(hooks{read: func(iter.Seq2[journal.Record, error]) iter.Seq2[journal.Record, error] {
			return func(yield func(journal.Record, error) bool) { yield(journal.Record{}, persistence.ErrCorrupt) }
		}})
		require.ErrorIs(w, w.failsToRecover(), persistence.ErrCorrupt)
	})
}

// forged returns a hook that changes the epochs of the records, by sequence number.
func forged(epochs map[uint64]uint64) func(iter.Seq2[journal.Record, error]) iter.Seq2[journal.Record, error] {
	return func(records iter.Seq2[journal.Record, error]) iter.Seq2[journal.Record, error] {
		return func(yield func(journal.Record, error) bool) {
			for r, err := range records {
				if epoch, has := epochs[r.Seq]; has {
					r.Epoch = epoch
				}
				if !yield(r, err) {
					return
				}
			}
		}
	}
}

// Nothing needs repair, because a journal never lets two writers write at a time. A journal that
// has let them is broken.
func TestAnEventOfAFencedWriterFailsRecovery(t *testing.T) {
	for want, epochs := range map[string]map[uint64]uint64{
		"event 3 was written under claim 1, and the one before under 2": {3: 1},
		"event 2 was written under claim 9, which should be before":     {2: 9},
		"event 3 was written under claim 4, which should be before":     {3: 4},
	} {
		t.Run(want, func(t *testing.T) {
			inBubble(t, func(w *world) {
				for _, word := range []string{"a", "b", "c"} {
					w.store("persistence_test.said", said{word})
				}
				w.journal.set(hooks{read: forged(epochs)})
				failure := w.failsToRecover()
				require.ErrorIs(w, failure, persistence.ErrCorrupt)
				require.ErrorContains(w, failure, want)
			})
		})
	}
}

func TestDeletedEventsWithoutASnapshotFailRecovery(t *testing.T) {
	inBubble(t, func(w *world) {
		w.store("persistence_test.said", said{"a"}, said{"b"}, said{"c"})
		require.NoError(w, w.journal.DeleteTo(w.Context(), "words", 1, 2))
		failure := w.failsToRecover()
		require.ErrorIs(w, failure, persistence.ErrCorrupt)
		require.ErrorContains(w, failure, "the events up to 2 are deleted")
	})
}

func TestAnEventOfAnUnknownTypeFailsRecoveryWithAHint(t *testing.T) {
	inBubble(t, func(w *world) {
		w.store("persistence_test.forgotten", said{"a"})
		failure := w.failsToRecover()
		require.ErrorIs(w, failure, actor.ErrNotDecodable)
		require.ErrorContains(w, failure, `actor.RegisterType[T]("persistence_test.forgotten")`)
	})
}

func TestAnEventOfAnotherTypeFailsRecovery(t *testing.T) {
	inBubble(t, func(w *world) {
		w.store("string", "a")
		require.ErrorContains(w, w.failsToRecover(), "stored is a string, not a persistence_test.said")
	})
}

func TestFieldsThatAreGoneArePassedOver(t *testing.T) {
	inBubble(t, func(w *world) {
		w.store("persistence_test.said", map[string]any{"Word": "a", "Loudness": int64(11)}, map[string]any{})
		w.spawn().Tell(recall(w.to))
		w.replies.Expect("[a]")
	})
}

func TestAPanicInReplayFailsRecovery(t *testing.T) {
	inBubble(t, func(w *world) {
		w.store("persistence_test.said", said{"a"}, said{"!"})
		failure := w.failsToRecover()
		var panicked *actor.PanicError
		require.ErrorAs(w, failure, &panicked)
		require.Equal(w, "too loud", panicked.Value)
		require.EqualValues(w, 1, failure.Seq)
	})
}

func TestRecoveryIsTriedAgainWhileTheJournalIsDown(t *testing.T) {
	inBubble(t, func(w *world) {
		w.store("persistence_test.said", said{"a"})
		w.journal.set(hooks{claim: answers(persistence.ErrUnavailable, persistence.ErrUnknown)})
		ref := w.spawn(options{OnPersistFailure: actor.Backoff{Min: time.Second}})
		ref.Tell(recall(w.to))
		w.replies.ExpectNone(2*time.Second - 1)
		w.replies.Expect("[a]")
	})
}

func TestRecoveryBeginsAnewAfterAFailureAmidTheEvents(t *testing.T) {
	inBubble(t, func(w *world) {
		w.store("persistence_test.said", said{"a"}, said{"b"}, said{"c"})
		tries := 0
		w.journal.set(hooks{read: func(records iter.Seq2[journal.Record, error]) iter.Seq2[journal.Record, error] {
			if tries++; tries > 1 {
				return records
			}
			return func(yield func(journal.Record, error) bool) {
				for r, err := range records {
					if r.Seq == 3 {
						err = persistence.ErrUnavailable
					}
					yield(r, err)
				}
			}
		}})
		w.spawn().Tell(recall(w.to))
		w.replies.Expect("[abc]")
		require.Equal(w, []uint64{1, 1}, w.journal.readFrom())
	})
}

func TestRecoveryFailsWhenTheJournalStaysDown(t *testing.T) {
	inBubble(t, func(w *world) {
		w.journal.set(hooks{claim: always(persistence.ErrUnavailable)})
		begun := time.Now()
		require.ErrorIs(w, w.failsToRecover(), persistence.ErrUnavailable)
		require.Less(w, time.Since(begun), 30*time.Second)
	})
}

func TestRecoveryFailsWhenTheNextEventDoesNotCome(t *testing.T) {
	inBubbleWithLog(t, func(w *world, log *observer.ObservedLogs) {
		w.store("persistence_test.said", said{"a"}, said{"b"}, said{"c"})
		w.slowly(func(n int) time.Duration { return []time.Duration{time.Second / 2, time.Second, time.Minute}[n] })
		begun := time.Now()
		failure := w.failsToRecover(options{RecoveryTimeout: 25 * time.Second})
		require.ErrorIs(w, failure, context.DeadlineExceeded)
		require.EqualValues(w, 2, failure.Seq)
		require.Equal(w, (1500+25000+1000)*time.Millisecond, time.Since(begun), "25 s after the last event, a second for the store, and no second try")
		require.Len(w, stalls(log), 1)
		time.Sleep(time.Minute) // until the journal has answered
	})
}

// A store that answers each request only when patience with it is over is not one that works.
func TestRecoveryFailsWhenEventsComeNowAndThen(t *testing.T) {
	inBubbleWithLog(t, func(w *world, log *observer.ObservedLogs) {
		for range 400 {
			w.store("persistence_test.said", said{"a"})
		}
		w.slowly(func(int) time.Duration { return 5 * time.Second })
		begun := time.Now()
		failure := w.failsToRecover()
		require.ErrorIs(w, failure, context.DeadlineExceeded)
		require.EqualValues(w, 7, failure.Seq, "each takes five seconds, and gives one")
		require.Less(w, time.Since(begun), 40*time.Second)
		require.Len(w, stalls(log), 1)
		time.Sleep(5 * time.Second) // until the journal has answered
	})
}

func TestRecoveryOfManyEventsMayTakeLong(t *testing.T) {
	inBubbleWithLog(t, func(w *world, log *observer.ObservedLogs) {
		for range 400 {
			w.store("persistence_test.said", said{"a"})
		}
		w.slowly(func(int) time.Duration { return time.Second })
		begun := time.Now()
		ref := w.spawn()
		ref.Tell(recall(w.to))
		w.replies.Within(time.Hour, func() { w.replies.Receive() })
		require.Equal(w, 400*time.Second, time.Since(begun))
		require.Empty(w, stalls(log))
	})
}

func TestRecoveryOfAClosedJournalFails(t *testing.T) {
	inBubble(t, func(w *world) {
		require.NoError(w, w.journal.Close())
		require.ErrorIs(w, w.failsToRecover(), persistence.ErrClosed)
	})
}

func TestAJournalWithoutSnapshotsIsEnough(t *testing.T) {
	inBubble(t, func(w *world) {
		plain := struct{ persistence.Journal }{journal.NewMemory()}
		for _, want := range []string{"[]", "[a]"} {
			ref := actor.Spawn(w.system, words(plain), "")
			ref.Tell(recall(w.to))
			w.replies.Expect(want)
			ref.Tell(say(w.to, "a"))
			w.replies.Expect("a")
			w.stop(ref)
		}
	})
}
