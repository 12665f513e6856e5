package persistence_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
)

// writeOnce writes a page, and replies with its revision and text.
func writeOnce(key string, to actor.ActorRef[string], text string) order {
	return func(_ *actor.Context[order], s persistence.State[page]) persistence.StateEffect[page] {
		reply := fmt.Sprintf("%d: %s", s.Revision+1, text)
		return persistence.Once(key, persistence.ThenReply(persistence.PersistState(page{text}), to, reply))
	}
}

func TestTheReplyToARepeatedCommandOfADurableStateIsTheFirstReply(t *testing.T) {
	inBubble(t, func(w *world) {
		const commands = 150 // older records are deleted after each 32
		first := func(i int) string { return fmt.Sprintf("%d: %d", i+1, i) }
		ref := w.openPage()
		for i := range commands {
			ref.Tell(writeOnce(fmt.Sprint(i), w.to, fmt.Sprint(i)))
			w.replies.Expect(first(i))
			if i%7 == 0 { // another instance
				synctest.Wait()
				w.shutPage(ref)
				ref = w.openPage()
			}
			for _, known := range []int{0, i / 2, i} {
				ref.Tell(writeOnce(fmt.Sprint(known), w.to, "again"))
				w.replies.Expect(first(known))
			}
			synctest.Wait()
			require.LessOrEqual(w, len(w.pages()), 64)
		}
		ref.Tell(showPage(w.to))
		w.replies.Expect(fmt.Sprintf("%d: %d", commands, commands-1))
	})
}

func TestKeysOutliveADurableState(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.openPage()
		ref.Tell(writeOnce("1", w.to, "a"))
		ref.Tell(writePage(w.to, "b"))
		ref.Tell(func(*actor.Context[order], persistence.State[page]) persistence.StateEffect[page] {
			return persistence.Once("2", persistence.ThenReply(persistence.DeleteState[page], w.to, "erased"))
		})
		w.expect("1: a", "b", "erased")
		synctest.Wait()
		w.shutPage(ref)
		require.Len(w, w.pages(), 1)

		ref = w.openPage()
		ref.Tell(writeOnce("1", w.to, "c"))
		ref.Tell(writeOnce("2", w.to, "d"))
		ref.Tell(showPage(w.to))
		ref.Tell(writeOnce("3", w.to, "e"))
		w.expect("1: a", "erased", "3: blank", "4: e")
	})
}

func TestKeysThatAreOverLeaveNothingInTheRecordsOfAState(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.openPage()
		metaOf := func() int {
			ref.Tell(writePage(w.to, "plain"))
			w.expect("plain")
			sent := w.journal.sent()
			return len(sent[len(sent)-1].Records[0].Meta)
		}
		require.Equal(w, 1, metaOf(), "its kind")
		ref.Tell(writeOnce("1", w.to, "a"))
		w.expect("2: a")
		require.Equal(w, 2, metaOf())
		time.Sleep(7 * 24 * time.Hour)
		synctest.Wait()
		w.shutPage(ref)
		ref = w.openPage()
		require.Equal(w, 1, metaOf())
		ref.Tell(writeOnce("1", w.to, "b"))
		w.expect("5: b")
	})
}
