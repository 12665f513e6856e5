package persistence_test

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/codec"
)

// A fragile is a state or value that can always be encoded, and decoded only if the current decoder
// allows it.
type fragile struct{ Heard string }

func (f fragile) MarshalCBOR() ([]byte, error) {
	return append([]byte{0x78, byte(len(f.Heard))}, f.Heard...), nil
}

func (f *fragile) UnmarshalCBOR(data []byte) error {
	f.Heard = string(data[2:])
	if refuse := decoder.Load(); refuse != nil {
		return (*refuse)(f.Heard)
	}
	return nil
}

// decoder decides whether fragiles can be decoded; nil allows all.
var decoder atomic.Pointer[func(heard string) error]

func init() { actor.RegisterType[fragile]("persistence_test.fragile") }

// decodeBy makes refuse the decoder until the test ends.
func decodeBy(t *testing.T, refuse func(heard string) error) {
	t.Helper()
	decoder.Store(&refuse)
	t.Cleanup(func() { decoder.Store(nil) })
}

// unreadable is a decoder that refuses text that contains one of marks.
func unreadable(marks string) func(string) error {
	return func(heard string) error {
		if strings.ContainsAny(heard, marks) {
			return errors.New("written by an older build")
		}
		return nil
	}
}

func breakable(string) error { panic("a decoder that is broken") }

// fragileWords is words with a state that may not be readable.
type fragileOptions = persistence.Options[command, said, fragile]

func fragileWords(w *world, opts ...persistence.Option) actor.Behavior[command] {
	onEvent := func(f fragile, s said) fragile { return fragile{f.Heard + s.Word} }
	onCommand := func(ctx *actor.Context[command], f fragile, cmd command) persistence.Effect[said] {
		return cmd(ctx, f.Heard)
	}
	return behaviors.EventSourced("words", persistence.Journal(w.journal), fragile{}, onEvent, onCommand, opts...)
}

// hears sends words to an actor one by one, and waits for the background work after each.
func (w *world) hears(ref actor.ActorRef[command], words ...string) {
	w.Helper()
	for _, word := range words {
		ref.Tell(say(w.to, word))
		w.replies.Expect(word)
		synctest.Wait()
	}
}

func (w *world) spawnFragile(opts ...persistence.Option) actor.ActorRef[command] {
	return actor.Spawn(w.system, fragileWords(w, opts...), "")
}

// onSkipped tells w.to of skipped snapshots.
func (w *world) onSkipped() fragileOptions {
	return fragileOptions{OnSignal: func(_ *actor.Context[command], f fragile, sig persistence.Signal) effect {
		if s, ok := sig.(persistence.SnapshotSkipped); ok {
			w.to.Tell(describe(sig) + " [" + f.Heard + "]")
			require.Error(w, s.Err)
		}
		return nil
	}}
}

func TestRecoveryFallsBackToAnOlderSnapshotAndItsEvents(t *testing.T) {
	for name, test := range map[string]struct {
		unreadable string // words that make a snapshot unreadable
		want       []string
		from       uint64
	}{
		"the newest":     {"f", []string{"skipped 6 [abcdef]"}, 5},
		"the newest two": {"d", []string{"skipped 6 [abcdef]", "skipped 4 [abcdef]"}, 3},
		"all":            {"a", []string{"skipped 6 [abcdef]", "skipped 4 [abcdef]", "skipped 2 [abcdef]"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			inBubbleWithLog(t, func(w *world, log *observer.ObservedLogs) {
				ref := w.spawnFragile(fragileOptions{SnapshotEvery: 2, KeepSnapshots: 3})
				w.hears(ref, "a", "b", "c", "d", "e", "f")
				w.stop(ref)
				decodeBy(t, unreadable(test.unreadable))
				ref = w.spawnFragile(w.onSkipped())
				w.expect(test.want...)
				ref.Tell(recall(w.to))
				w.expect("[abcdef]")
				require.Equal(w, []uint64{test.from}, w.journal.readFrom())
				lines := log.FilterMessage("snapshot skipped: it cannot be decoded").All()
				require.Len(w, lines, len(test.want))
				require.Equal(w, "words", lines[0].ContextMap()["id"])
				require.EqualValues(w, 6, lines[0].ContextMap()["seq"])
			})
		})
	}
}

func TestASnapshotWhoseDecoderPanicsIsPassedOver(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.spawnFragile(fragileOptions{SnapshotEvery: 2, KeepSnapshots: 3})
		w.hears(ref, "a", "b")
		w.stop(ref)
		decodeBy(t, breakable)
		w.spawnFragile().Tell(recall(w.to))
		w.expect("[ab]")
	})
}

func TestDamagedSnapshotsAreSignalledToo(t *testing.T) {
	inBubble(t, func(w *world) {
		w.threeSnapshots(options{})
		w.journal.set(hooks{damaged: []uint64{6, 4}})
		w.spawn(options{OnSignal: w.signals(nil)})
		w.expect("recovered 6 [abcdef]", "skipped 6 [abcdef]", "skipped 4 [abcdef]")
	})
}

func TestASnapshotThatCannotBeDecodedIsNotSaved(t *testing.T) {
	for name, refuse := range map[string]func(string) error{"an error": unreadable("b"), "a panic": breakable} {
		t.Run(name, func(t *testing.T) {
			inBubbleWithLog(t, func(w *world, log *observer.ObservedLogs) {
				decodeBy(t, refuse)
				ref := w.spawnFragile(fragileOptions{SnapshotEvery: 2, KeepSnapshots: 1, DeleteEvents: true})
				w.hears(ref, "a", "b", "c")
				w.stop(ref)
				require.Empty(w, w.snapshots())
				require.Equal(w, "abc", w.events())
				require.Equal(w, 1, log.FilterMessage("snapshot not saved").Len())
				w.spawnFragile().Tell(recall(w.to))
				w.expect("[abc]")
			})
		})
	}
}

// A snapshot may have been readable when it was saved, but no longer.
func TestNothingIsDeletedForASnapshotThatCannotBeReadBack(t *testing.T) {
	for name, spoil := range map[string]func(w *world){
		"another build":   func(w *world) { decoder.Store(new(onceReadable("ab"))) },
		"a damaged store": func(w *world) { w.journal.set(hooks{damaged: []uint64{2}}) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubbleWithLog(t, func(w *world, log *observer.ObservedLogs) {
				t.Cleanup(func() { decoder.Store(nil) })
				ref := w.spawnFragile(fragileOptions{SnapshotEvery: 2, KeepSnapshots: 2, DeleteEvents: true})
				w.hears(ref, "a", "b")
				spoil(w)
				w.hears(ref, "c", "d")
				require.Equal(w, "abcd", w.events(), "the snapshot at 2 is of no use")
				require.Equal(w, 1, log.FilterMessageSnippet("cannot be read back").Len())
				w.hears(ref, "e", "f")
				require.Equal(w, "ef", w.events(), "the snapshot at 4 is")
				require.Equal(w, []uint64{4, 6}, w.snapshots())
				w.stop(ref)
				w.journal.set(hooks{damaged: []uint64{6}})
				w.spawnFragile().Tell(recall(w.to))
				w.expect("[abcdef]")
			})
		})
	}
}

// onceReadable is a decoder that refuses exactly one value.
func onceReadable(value string) func(string) error {
	return func(heard string) error {
		if heard == value {
			return errors.New("written by an older build")
		}
		return nil
	}
}

func TestSnapshotsThatCannotBeDecodedFailRecoveryWhenTheirEventsAreGone(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.spawnFragile(fragileOptions{SnapshotEvery: 2, KeepSnapshots: 1, DeleteEvents: true})
		w.hears(ref, "a", "b", "c")
		w.stop(ref)
		decodeBy(t, unreadable("a"))
		_, failures := w.mortal(fragileWords(w))
		err := failures.Receive()
		require.ErrorIs(w, err, persistence.ErrCorrupt)
		require.ErrorIs(w, err, actor.ErrNotDecodable)
		require.ErrorContains(w, err, "the events up to 2 are deleted")
		require.ErrorContains(w, err, "snapshot at 2")
		require.ErrorContains(w, err, "written by an older build")
		decodeBy(t, unreadable(""))
		w.spawnFragile().Tell(recall(w.to))
		w.expect("[abc]")
	})
}

func TestADurableStateThatCannotBeDecodedDoesNotReplaceTheFormerOne(t *testing.T) {
	type (
		change = persistence.StateEffect[fragile]
		cmd    func(s persistence.State[fragile]) change
	)
	onCommand := func(_ *actor.Context[cmd], s persistence.State[fragile], c cmd) change { return c(s) }
	for name, refuse := range map[string]func(string) error{"an error": unreadable("b"), "a panic": func(heard string) error {
		if heard == "b" {
			panic("broken")
		}
		return nil
	}} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				decodeBy(t, refuse)
				rejected := persistence.StateOptions[cmd, fragile]{OnSignal: func(_ *actor.Context[cmd], _ persistence.State[fragile], sig persistence.Signal) change {
					if r, ok := sig.(persistence.PersistRejected); ok {
						require.ErrorIs(w, r.Err, persistence.ErrInvalid)
						w.to.Tell("rejected")
					}
					return nil
				}}
				b := behaviors.DurableState("words", persistence.Journal(w.journal), fragile{}, onCommand, rejected)
				store := func(text string) cmd {
					return func(persistence.State[fragile]) change {
						return persistence.ThenReply(persistence.PersistState(fragile{text}), w.to, text)
					}
				}
				ref := actor.Spawn(w.system, b, "")
				ref.Tell(store("a"))
				w.expect("a")
				ref.Tell(store("b"))
				w.expect("rejected")
				w.replies.ExpectTerminated(ref)
				actor.Spawn(w.system, b, "").Tell(func(s persistence.State[fragile]) change {
					return persistence.Reply[persistence.StateChange[fragile]](w.to, s.Value.Heard)
				})
				w.expect("a")
			})
		})
	}
}

func TestAnActorWithoutTheCodecSaysWhichOneItNeeds(t *testing.T) {
	inBubble(t, func(w *world) {
		key, err := codec.NewEncryption(make([]byte, codec.KeySize))
		require.NoError(w, err)
		b := behaviors.EventSourced("words", codec.Wrap(w.journal.Memory, key), "", hear, obey)
		actor.Spawn(w.system, b, "").Tell(say(w.to, "a"))
		w.replies.Expect("a")
		failure := w.failsToRecover()
		require.ErrorIs(w, failure, persistence.ErrCodec)
		require.ErrorContains(w, failure, `it was stored by "aes-siv-1", and the journal has no codec`)
	})
}
