package persistence_test

import (
	"context"
	"errors"
	"fmt"
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
	"github.com/understudy-go/understudy/persistence/journal"
)

func TestADurableStateIsThereAgainWithItsRevision(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.openPage()
		ref.Tell(showPage(w.to))
		w.replies.Expect("0: blank")
		ref.Tell(writePage(w.to, "a"))
		ref.Tell(writePage(w.to, "b"))
		ref.Tell(showPage(w.to))
		w.replies.Expect("a")
		w.replies.Expect("b")
		w.replies.Expect("2: b")
		w.shutPage(ref)

		ref = w.openPage()
		ref.Tell(showPage(w.to))
		w.replies.Expect("2: b")
		ref.Tell(writePage(w.to, "c"))
		ref.Tell(showPage(w.to))
		w.replies.Expect("c")
		w.replies.Expect("3: c")
	})
}

func TestACommandWithAnOldRevisionCanBeRefused(t *testing.T) {
	change := func(to actor.ActorRef[string], seen uint64, text string) order {
		return func(_ *actor.Context[order], s persistence.State[page]) persistence.StateEffect[page] {
			if s.Revision != seen {
				to.Tell("look again")
				return persistence.None
			}
			return persistence.ThenReply(persistence.PersistState(page{text}), to, text)
		}
	}
	inBubble(t, func(w *world) {
		ref := w.openPage()
		ref.Tell(change(w.to, 0, "mine"))
		ref.Tell(change(w.to, 0, "yours"))
		ref.Tell(change(w.to, 1, "ours"))
		w.replies.Expect("mine")
		w.replies.Expect("look again")
		w.replies.Expect("ours")
	})
}

func TestRecoveryOfADurableStateReadsOneRecord(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.openPage()
		for i := range 100 {
			ref.Tell(writePage(w.to, fmt.Sprint(i)))
			w.replies.Expect(fmt.Sprint(i))
		}
		w.shutPage(ref)
		require.Empty(w, w.journal.readFrom())
		w.openPage().Tell(showPage(w.to))
		w.replies.Expect("100: 99")
		require.Equal(w, []uint64{100}, w.journal.readFrom())
	})
}

func TestOlderStatesAreDeletedNowAndThen(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.openPage()
		for i := range 1000 {
			ref.Tell(writePage(w.to, fmt.Sprint(i)))
			w.replies.Expect(fmt.Sprint(i))
			synctest.Wait()
			require.LessOrEqual(w, len(w.pages()), 32)
		}
		ref.Tell(showPage(w.to))
		w.replies.Expect("1000: 999")
	})
}

// The reader keeps the older states; the state itself, and recovery, do not depend on it.
func TestARegisteredReaderKeepsOlderStatesUntilItHasReadThem(t *testing.T) {
	inBubble(t, func(w *world) {
		var at journal.Offset
		catchUp := func() (read []uint64) {
			for e, err := range w.journal.Memory.Events(w.Context(), journal.Query{}, at) {
				require.NoError(w, err)
				at, read = e.Offset, append(read, e.Record.Seq)
			}
			require.NoError(w, w.journal.Memory.SaveReader(w.Context(), journal.Reader{Name: "pages", Offset: at}))
			return read
		}
		ref := w.openPage()
		write := func(from, to int) {
			for i := from; i <= to; i++ {
				ref.Tell(writePage(w.to, fmt.Sprint(i)))
				w.replies.Expect(fmt.Sprint(i))
				synctest.Wait()
			}
		}
		require.Empty(w, catchUp())
		write(1, 100)
		require.Len(w, w.pages(), 100, "nothing is deleted that the reader has not read")
		w.shutPage(ref)
		ref = w.openPage()
		ref.Tell(showPage(w.to))
		w.replies.Expect("100: 100")
		synctest.Wait()
		require.Len(w, w.pages(), 100, "recovery deletes nothing of it")

		require.Len(w, catchUp(), 100)
		write(101, 128)
		require.Equal(w, uint64(101), w.pages()[0].Seq, "the next deletion has gone as far as the reader")
		ref.Tell(erasePage(w.to))
		w.replies.Expect("erased")
		synctest.Wait()
		require.Len(w, w.pages(), 29, "a deleted state is there for the reader")
		require.Len(w, catchUp(), 29)
		w.shutPage(ref)
		w.openPage().Tell(showPage(w.to))
		w.replies.Expect("129: blank")
		synctest.Wait()
		require.Len(w, w.pages(), 1, "and is deleted by the next incarnation")
	})
}

func TestADeletedStateIsTheInitialOneAndGoneFromTheJournal(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.openPage(pageOptions{Tags: func(p page) []string { return []string{"page", p.Text} }})
		ref.Tell(writePage(w.to, "secret"))
		ref.Tell(erasePage(w.to))
		ref.Tell(showPage(w.to))
		w.replies.Expect("secret")
		w.replies.Expect("erased")
		w.replies.Expect("2: blank")
		synctest.Wait()
		records := w.pages()
		require.Len(w, records, 1)
		require.Equal(w, "understudy/persistence.deleted/1", records[0].Type)
		require.Equal(w, []string{"page", "secret"}, records[0].Tags, "readers of the tag learn of it")
		w.shutPage(ref)

		ref = w.openPage()
		ref.Tell(showPage(w.to))
		ref.Tell(writePage(w.to, "new"))
		ref.Tell(showPage(w.to))
		w.replies.Expect("2: blank")
		w.replies.Expect("new")
		w.replies.Expect("3: new")
	})
}

func TestADeletionKnowsTheTagsOfAStateThatWasRecovered(t *testing.T) {
	inBubble(t, func(w *world) {
		tagged := pageOptions{Tags: func(p page) []string { return []string{p.Text} }}
		ref := w.openPage(tagged)
		ref.Tell(writePage(w.to, "red"))
		w.replies.Expect("red")
		w.shutPage(ref)
		w.journal.set(hooks{append: answers(persistence.ErrUnknown)})
		w.openPage(tagged).Tell(erasePage(w.to))
		w.replies.Expect("erased")
		synctest.Wait()
		require.Equal(w, []string{"red"}, w.pages()[0].Tags)
	})
}

func TestWhatACrashLeftIsDiscardedAtRecovery(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.openPage()
		ref.Tell(writePage(w.to, "first"))
		w.replies.Expect("first")
		first := w.pages()[0]
		w.shutPage(ref)
		claim, err := w.journal.Memory.Claim(w.Context(), "page-1", journal.WriterID{}, journal.Bounds{})
		require.NoError(w, err)
		req := journal.AppendRequest{ID: "page-1", Epoch: claim.Epoch, Prev: 1}
		for seq := uint64(2); seq <= 100; seq++ {
			r := first
			r.Seq, r.Epoch = seq, claim.Epoch
			req.Records = append(req.Records, r)
		}
		require.NoError(w, w.journal.Memory.Append(w.Context(), []journal.AppendRequest{req})[0])

		w.openPage().Tell(showPage(w.to))
		w.replies.Expect("100: first")
		synctest.Wait()
		require.Len(w, w.pages(), 1)
	})
}

func TestANewerDurableStateFencesOffTheOlder(t *testing.T) {
	inBubble(t, func(w *world) {
		older, failures := w.watchedPage()
		older.Tell(writePage(w.to, "a"))
		w.replies.Expect("a")
		newer := w.openPage()
		newer.Tell(writePage(w.to, "b"))
		w.replies.Expect("b")
		older.Tell(writePage(w.to, "c"))
		w.replies.ExpectTerminated(older)
		failures.ExpectNone(time.Hour)
		newer.Tell(showPage(w.to))
		w.replies.Expect("2: b")
		require.Len(w, w.journal.sent(), 3, "a fenced write is not tried again")
	})
}

func TestAStateWhoseAnswerWasLostIsStoredOnce(t *testing.T) {
	for _, stored := range []bool{false, true} {
		t.Run(fmt.Sprintf("stored=%v", stored), func(t *testing.T) {
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
				ref := w.openPage()
				ref.Tell(writePage(w.to, "a"))
				ref.Tell(showPage(w.to))
				w.replies.Expect("a")
				w.replies.Expect("1: a")
				sent := w.journal.sent()
				require.Len(w, sent, 2)
				require.Equal(w, sent[0], sent[1])
			})
		})
	}
}

func TestAPanicInTheHandlerOfADurableStateStoresNothing(t *testing.T) {
	inBubble(t, func(w *world) {
		b := behaviors.Supervise(notebook(w.journal), actor.Strategy{Decide: func(error) actor.Directive { return actor.Restart }})
		ref := actor.Spawn(w.system, b, "")
		ref.Tell(writePage(w.to, "a"))
		ref.Tell(func(*actor.Context[order], persistence.State[page]) persistence.StateEffect[page] { panic("boom") })
		ref.Tell(showPage(w.to))
		w.replies.Expect("a")
		w.replies.Expect("1: a")
		require.Len(w, w.pages(), 1)
	})
}

func TestAJournalThatRefusesADurableStateLeavesTheFormerOne(t *testing.T) {
	for _, cause := range []error{persistence.ErrConflict, persistence.ErrTooLarge} {
		t.Run(cause.Error(), func(t *testing.T) {
			inBubble(t, func(w *world) {
				var failure error
				b := behaviors.Supervise(notebook(w.journal), actor.Strategy{Decide: func(err error) actor.Directive { failure = err; return actor.Resume }})
				ref := actor.Spawn(w.system, b, "")
				ref.Tell(writePage(w.to, "a"))
				w.replies.Expect("a")
				w.journal.set(hooks{append: answers(cause)})
				ref.Tell(writePage(w.to, "b"))
				ref.Tell(showPage(w.to))
				w.replies.Expect("1: a")
				var rejected *persistence.RejectedError
				require.ErrorAs(w, failure, &rejected)
				require.ErrorIs(w, failure, cause)
			})
		})
	}
}

func TestAJournalThatFailsFailsTheDurableStateAndARestartReadsIt(t *testing.T) {
	inBubble(t, func(w *world) {
		b := behaviors.Supervise(notebook(w.journal, pageOptions{OnPersistFailure: actor.Backoff{Min: -1}}), actor.Strategy{})
		ref := actor.Spawn(w.system, b, "")
		ref.Tell(writePage(w.to, "a"))
		w.replies.Expect("a")
		w.journal.set(hooks{append: answers(errors.New("broken"))})
		ref.Tell(writePage(w.to, "b"))
		ref.Tell(showPage(w.to))
		w.replies.Expect("1: a")
	})
}

func TestStashedCommandsOfADurableStateRunInOrder(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.openPage()
		ref.Tell(func(ctx *actor.Context[order], s persistence.State[page]) persistence.StateEffect[page] {
			if s.Revision == 0 {
				return persistence.Stash
			}
			return writePage(w.to, s.Value.Text+" and more")(ctx, s)
		})
		ref.Tell(func(*actor.Context[order], persistence.State[page]) persistence.StateEffect[page] {
			return persistence.PersistState(page{"something"}).ThenUnstashAll()
		})
		w.replies.Expect("something and more")
	})
}

func TestAnIDOfEventsIsRefusedByADurableState(t *testing.T) {
	inBubble(t, func(w *world) {
		claim, err := w.journal.Memory.Claim(w.Context(), "page-1", journal.WriterID{}, journal.Bounds{})
		require.NoError(w, err)
		payload, err := extension.Pack(page{"an event that looks like a state"})
		require.NoError(w, err)
		req := journal.AppendRequest{ID: "page-1", Epoch: claim.Epoch, Records: []journal.Record{
			{Seq: 1, Epoch: claim.Epoch, Type: payload.Type, Payload: payload.Data},
		}}
		require.NoError(w, w.journal.Memory.Append(w.Context(), []journal.AppendRequest{req})[0])
		w.refusedPage("take an id that no event-sourced actor has used")

		require.NoError(w, w.journal.DeleteTo(w.Context(), "page-1", claim.Epoch+1, 1))
		w.refusedPage("deleted or missing")
	})
}

// refusedPage requires that the page fails to recover, because the stored record is not a state.
func (w *world) refusedPage(says string) {
	w.Helper()
	_, failures := w.watchedPage()
	err := failures.Receive()
	var failed *persistence.RecoveryError
	require.ErrorAs(w, err, &failed)
	require.ErrorIs(w, err, persistence.ErrNotState)
	require.ErrorContains(w, err, says)
}

func TestAStateOfAnotherTypeIsRefused(t *testing.T) {
	inBubble(t, func(w *world) {
		number := behaviors.DurableState("page-1", w.journal, 0, func(_ *actor.Context[int], _ persistence.State[int], n int) persistence.StateEffect[int] {
			return persistence.ThenReply(persistence.PersistState(n), w.to, "stored")
		})
		actor.Spawn(w.system, number, "").Tell(1)
		w.replies.Expect("stored")
		_, failures := w.watchedPage()
		require.ErrorContains(w, failures.Receive(), "stored is a int, not a persistence_test.page")
	})
}

// Where the state is an interface, what is behind it shows with each value.
func TestAnUnregisteredStateIsRejectedWithAHint(t *testing.T) {
	type unregistered struct{}
	inBubble(t, func(w *world) {
		var failure error
		b := behaviors.DurableState("x", w.journal, any(nil), func(_ *actor.Context[any], _ persistence.State[any], v any) persistence.StateEffect[any] {
			return persistence.ThenReply(persistence.PersistState(v), w.to, "stored")
		})
		ref := actor.Spawn(w.system, behaviors.Supervise(b, actor.Strategy{
			Decide: func(err error) actor.Directive { failure = err; return actor.Resume },
		}), "")
		ref.Tell(unregistered{})
		ref.Tell("registered")
		w.replies.Expect("stored")
		require.ErrorContains(w, failure, "actor.RegisterType[persistence_test.unregistered]")
		ref.Tell(nil)
		ref.Tell("another")
		w.replies.Expect("stored")
		var rejected *persistence.RejectedError
		require.ErrorAs(w, failure, &rejected)
		require.ErrorContains(w, failure, "nil")
	})
}

func TestWhatIsNoValueCannotBeStoredAsOne(t *testing.T) {
	inBubble(t, func(w *world) {
		ref, failures := w.watchedPage()
		ref.Tell(func(*actor.Context[order], persistence.State[page]) persistence.StateEffect[page] {
			return persistence.Persist[persistence.StateChange[page]]("a string")
		})
		var panicked *actor.PanicError
		require.ErrorAs(w, failures.Receive(), &panicked)
		require.Empty(w, w.pages())
	})
}

func TestADurableStateClaimsUnderTheGenerationOfItsHost(t *testing.T) {
	inBubble(t, func(w *world) {
		claimed := make(chan uint64, 1)
		ctx := tenure.With(w.Context(), tenure.New("", tenure.Unpack(41), tenure.Hooks{Claimed: func(_ tenure.Claim, _, raised tenure.Generation) {
			packed, _ := raised.Packed()
			claimed <- packed
		}}))
		ref := actor.Spawn(w.system, notebook(w.journal), "", extension.WithContext(ctx))
		ref.Tell(writePage(w.to, "a"))
		w.replies.Expect("a")
		require.EqualValues(w, 41, <-claimed)
		require.EqualValues(w, 41, w.pages()[0].Epoch)
	})
}

func TestADurableStateThatCannotWorkPanicsAtOnce(t *testing.T) {
	type unregistered struct{}
	handler := func(*actor.Context[order], persistence.State[page], order) persistence.StateEffect[page] { return nil }
	for says, construct := range map[string]func(){
		"the id is empty":    func() { persistence.NewDurableState("", journal.NewMemory(), page{}, handler) },
		"the journal is nil": func() { persistence.NewDurableState("x", nil, page{}, handler) },
		"command handler is": func() { persistence.NewDurableState[order]("x", journal.NewMemory(), page{}, nil) },
		"timeouts must": func() {
			persistence.NewDurableState("x", journal.NewMemory(), page{}, handler, pageOptions{PersistTimeout: -1})
		},
		"there are 2 Options": func() {
			persistence.NewDurableState("x", journal.NewMemory(), page{}, handler, pageOptions{}, pageOptions{})
		},
		"state type persistence_": func() {
			persistence.NewDurableState("x", journal.NewMemory(), unregistered{}, func(*actor.Context[order], persistence.State[unregistered], order) persistence.StateEffect[unregistered] {
				return nil
			})
		},
	} {
		var message string
		func() {
			defer func() { message = fmt.Sprint(recover()) }()
			construct()
		}()
		require.Contains(t, message, says)
	}
}

func TestAnIDOfADurableStateIsRefusedByEvents(t *testing.T) {
	inBubble(t, func(w *world) {
		number := behaviors.DurableState("words", w.journal, "", func(_ *actor.Context[string], _ persistence.State[string], s string) persistence.StateEffect[string] {
			return persistence.ThenReply(persistence.PersistState(s), w.to, "stored")
		})
		actor.Spawn(w.system, number, "").Tell("a")
		w.replies.Expect("stored")
		require.ErrorIs(w, w.failsToRecover(), persistence.ErrNotEvent)
	})
}

func TestADurableStateHearsOfItsLife(t *testing.T) {
	inBubble(t, func(w *world) {
		hear := pageOptions{OnSignal: func(_ *actor.Context[order], s persistence.State[page], sig persistence.Signal) persistence.StateEffect[page] {
			w.to.Tell(fmt.Sprintf("%T at %d: %s", sig, s.Revision, s.Value.Text))
			return persistence.None
		}}
		ref := w.openPage(hear)
		w.replies.Expect("persistence.RecoveryCompleted at 0: blank")
		ref.Tell(writePage(w.to, "a"))
		w.replies.Expect("a")
		w.shutPage(ref)
		w.replies.Expect("actor.PostStop at 1: a")
		ref = w.openPage(hear)
		w.replies.Expect("persistence.RecoveryCompleted at 1: a")
		w.journal.set(hooks{append: answers(persistence.ErrTooLarge)})
		ref.Tell(writePage(w.to, "b"))
		w.replies.Expect("persistence.PersistRejected at 1: a")
	})
}

// A reader of a tag sees every latest value and deletions, but not all values in between.
func TestReadersAcrossIDsFollowDurableStates(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.openPage(pageOptions{Tags: func(page) []string { return []string{"page"} }})
		types := func(after journal.Offset) (types []string, last journal.Offset) {
			for e, err := range w.journal.Events(w.Context(), journal.Query{Tag: "page"}, after) {
				require.NoError(w, err)
				require.Equal(w, "page-1", e.ID)
				types, last = append(types, e.Record.Type), e.Offset
			}
			return types, last
		}
		for i := range 100 {
			ref.Tell(writePage(w.to, fmt.Sprint(i)))
			w.replies.Expect(fmt.Sprint(i))
		}
		synctest.Wait()
		found, last := types("")
		require.Less(w, len(found), 100)
		require.NotEmpty(w, found)
		ref.Tell(erasePage(w.to))
		w.replies.Expect("erased")
		found, _ = types(last)
		require.Equal(w, []string{"understudy/persistence.deleted/1"}, found)
	})
}
