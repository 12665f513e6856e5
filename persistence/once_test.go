package persistence_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/testkit"
)

// sayOnce stores a word, and replies with everything that has been heard.
func sayOnce(key string, to actor.ActorRef[string], word string) command {
	return func(_ *actor.Context[command], heard string) persistence.Effect[said] {
		return persistence.Once(key, persistence.ThenReply(persistence.Persist(said{word}), to, heard+word))
	}
}

func TestTheReplyToARepeatedCommandIsTheFirstReply(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.spawn()
		for _, one := range []struct{ key, word, reply string }{
			{"1", "a", "a"}, {"2", "b", "ab"}, {"1", "a", "a"}, {"2", "x", "ab"}, {"3", "c", "abc"}, {"", "d", "abcd"}, {"", "e", "abcde"},
		} {
			ref.Tell(sayOnce(one.key, w.to, one.word))
			w.replies.Expect(one.reply)
		}
		require.Equal(w, "abcde", w.events())
	})
}

func TestANewInstanceRepeatsTheReplyThatWasLost(t *testing.T) {
	inBubble(t, func(w *world) {
		other := testkit.NewProbe[string](w.T, w.system)
		ref, failures := w.mortal(words(w.journal))
		ref.Tell(func(*actor.Context[command], string) persistence.Effect[said] {
			lost := persistence.Persist(said{"a"}).Then(func() { panic("dies between the append and the reply") })
			return persistence.Once("1", persistence.ThenReply(lost, w.to, "first"))
		})
		require.ErrorContains(w, failures.Receive(), "dies between")
		w.spawn().Tell(sayOnce("1", other.Ref(), "b"))
		other.Expect("first")
		require.Equal(w, "a", w.events())
	})
}

func TestACommandWhoseAppendWasLostIsExecutedByTheNextInstance(t *testing.T) {
	inBubble(t, func(w *world) {
		w.journal.set(hooks{append: answers(persistence.ErrFenced)})
		ref, failures := w.mortal(words(w.journal))
		ref.Tell(sayOnce("1", w.to, "a"))
		require.ErrorIs(w, failures.Receive(), persistence.ErrFenced)
		ref = w.spawn()
		ref.Tell(sayOnce("1", w.to, "b"))
		ref.Tell(sayOnce("1", w.to, "c"))
		w.expect("b", "b")
		require.Equal(w, "b", w.events())
	})
}

func TestAnAppendWhoseAnswerWasLostIsRepeatedWithItsKey(t *testing.T) {
	inBubble(t, func(w *world) {
		failed := false
		w.journal.set(hooks{append: func(_ context.Context, apply func() error) error {
			err := apply()
			if !failed {
				failed, err = true, persistence.ErrUnknown
			}
			return err
		}})
		ref := w.spawn()
		ref.Tell(sayOnce("1", w.to, "a"))
		ref.Tell(sayOnce("1", w.to, "b")) // waits for the first one
		w.expect("a", "a")
		require.Equal(w, "a", w.events())
	})
}

func TestKeysOutliveSnapshotsAndDeletedEvents(t *testing.T) {
	inBubble(t, func(w *world) {
		opts := options{SnapshotEvery: 3, DeleteEvents: true, KeepSnapshots: 1}
		for round := range 3 {
			ref := w.spawn(opts)
			for i, key := range strings.Split("abcdefg", "") {
				ref.Tell(sayOnce(key, w.to, key))
				w.replies.Expect("abcdefg"[:i+1])
			}
			synctest.Wait()
			w.stop(ref)
			require.Equal(w, []uint64{6}, snapshotsOf(w), "round %d", round)
		}
		require.Equal(w, "g", w.events(), "the others are in the snapshot")
	})
}

func snapshotsOf(w *world) []uint64 {
	seqs, err := w.journal.Snapshots(w.Context(), "words")
	require.NoError(w, err)
	return seqs
}

func TestADamagedSnapshotCostsNoKey(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.spawn(options{SnapshotEvery: 2})
		for i, key := range strings.Split("abcde", "") {
			ref.Tell(sayOnce(key, w.to, key))
			w.replies.Expect("abcde"[:i+1])
			synctest.Wait()
		}
		w.stop(ref)
		w.journal.set(hooks{damaged: []uint64{4}})
		ref = w.spawn(options{SnapshotEvery: 2})
		for i, key := range strings.Split("abcde", "") {
			ref.Tell(sayOnce(key, w.to, "x"))
			w.replies.Expect("abcde"[:i+1])
		}
	})
}

func TestTheWindowOfKeysIsBoundedByNumberAndAge(t *testing.T) {
	inBubble(t, func(w *world) {
		opts := options{OnceKeys: 2, OnceFor: time.Hour}
		ref := w.spawn(opts)
		tell := func(key, word, reply string) {
			w.Helper()
			ref.Tell(sayOnce(key, w.to, word))
			w.replies.Expect(reply)
		}
		tell("1", "a", "a")
		tell("2", "b", "ab")
		tell("1", "x", "a")
		tell("3", "c", "abc")
		tell("1", "d", "abcd") // two others came after it
		w.stop(ref)
		ref = w.spawn(opts)
		tell("3", "x", "abc")
		tell("1", "x", "abcd")
		time.Sleep(time.Hour - time.Second)
		tell("1", "x", "abcd")
		time.Sleep(time.Second)
		tell("1", "e", "abcde")
		w.stop(ref)
		ref = w.spawn(opts)
		tell("1", "x", "abcde")
		tell("3", "f", "abcdef")
	})
}

func TestARefusalIsNotKept(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.spawn()
		once := func(e persistence.Effect[said]) { ref.Tell(do(persistence.Once("1", e))) }
		once(persistence.Reply[said](w.to, "not yet"))
		once(persistence.Stash)
		once(persistence.Unhandled)
		once(nil)
		once(persistence.ThenReply(persistence.Persist(said{"a"}), w.to, "now"))
		once(persistence.Reply[said](w.to, "never"))
		ref.Tell(do(persistence.UnstashAll))
		w.expect("not yet", "now", "now")
	})
}

func TestWhatIsChainedInsideOnceTakesPlaceOnceAndOutsideEachTime(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.spawn()
		cmd := func(reply string) command {
			inside := persistence.Persist(said{"a"}).Then(func() { w.to.Tell("inside") })
			inside = persistence.ThenReply(inside, w.to, reply).ThenUnstashAll()
			return do(persistence.Once("1", inside).Then(func() { w.to.Tell("outside") }))
		}
		ref.Tell(putAside)
		ref.Tell(cmd("1"))
		w.expect("inside", "1", "outside")
		ref.Tell(cmd("2"))
		w.expect("1", "outside")

		outside := func(key, reply string) {
			stored := persistence.Once(key, persistence.Persist(said{"b"}).ThenStop())
			ref.Tell(do(persistence.ThenReply(stored, w.to, reply)))
		}
		outside("1", "3")
		w.expect("1")
		outside("2", "4")
		w.expect("4")
		w.replies.ExpectTerminated(ref)
		ref = w.spawn()
		outside("2", "5")
		w.expect("4")
		ref.Tell(do(persistence.Once("2", persistence.Persist(said{"b"})).ThenStop()))
		w.replies.ExpectTerminated(ref)
		require.Equal(w, "ab", w.events())
	})
}

func TestAKeyThatCannotBeUsedRefusesItsCommandAlone(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.spawn()
		letters := w.deadLetters()
		refused := func(e persistence.Effect[said], reason error, text string) {
			w.Helper()
			ref.Tell(do(e))
			letter := letters.Receive()
			require.ErrorIs(w, letter.Reason, reason)
			require.ErrorContains(w, letter.Reason, text)
		}
		event := persistence.Persist(said{"a"})
		refused(persistence.Once(strings.Repeat("x", 1025), event), persistence.ErrInvalid, "1025 bytes, more than 1024")
		refused(persistence.Once("\xff", event), persistence.ErrInvalid, "not UTF-8")
		refused(persistence.Once("a\x00", event), persistence.ErrInvalid, "NUL")
		refused(persistence.Once("1", persistence.Once("2", event)), persistence.ErrInvalid, "two keys")
		refused(persistence.Once("", persistence.Once("2", persistence.Once("3", event))), persistence.ErrInvalid, "two keys")

		ref.Tell(do(persistence.Once(strings.Repeat("x", 1024), persistence.ThenReply(event, w.to, "ok"))))
		ref.Tell(do(persistence.Once("none", event)))
		w.expect("ok")
		number := testkit.NewProbe[int](w.T, w.system)
		refused(persistence.Once(strings.Repeat("x", 1024), persistence.ThenReply(event, number.Ref(), 7)), persistence.ErrKeyReused, "is a string; the new one is of type int")
		refused(persistence.Once("none", persistence.ThenReply(event, number.Ref(), 7)), persistence.ErrKeyReused, `"none" had no reply`)
		require.Equal(w, "aa", w.events())
	})
}

func TestAReplyThatCannotBeStoredRejectsItsEvents(t *testing.T) {
	type secret struct{ X int }
	inBubble(t, func(w *world) {
		other := testkit.NewProbe[secret](w.T, w.system)
		ref, failures := w.mortal(words(w.journal))
		ref.Tell(do(persistence.Once("1", persistence.ThenReply(persistence.Persist(said{"a"}), other.Ref(), secret{1}))))
		err := failures.Receive()
		rejected := new(persistence.RejectedError)
		require.ErrorAs(w, err, &rejected)
		require.ErrorContains(w, err, "actor.RegisterType[persistence_test.secret]")

		ref, failures = w.mortal(words(w.journal))
		ref.Tell(do(persistence.Once("1", persistence.ThenReply(persistence.Persist(said{"a"}), w.to, strings.Repeat("x", 1<<20)))))
		require.ErrorContains(w, failures.Receive(), "more than 1048576")
		require.Empty(w, w.events())
	})
}

func TestWithoutKeysRecordsAndSnapshotsAreAsBefore(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.spawn(options{SnapshotEvery: 1})
		ref.Tell(say(w.to, "a"))
		w.expect("a")
		synctest.Wait()
		require.Empty(w, w.journal.sent()[0].Records[0].Meta)
		s, ok, _, err := w.journal.Memory.LoadSnapshot(w.Context(), "words", 1)
		require.NoError(w, err)
		require.True(w, ok)
		require.Equal(w, "string", s.Type)
	})
}
