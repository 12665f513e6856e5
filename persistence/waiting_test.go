package persistence_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
)

// A question is stored and answered with all words so far, unless it is "…", or is stashed until
// "go on" comes if it is "later".
type question struct {
	Word    string
	ReplyTo actor.ActorRef[string]
}

func answering(j persistence.Journal) actor.Behavior[question] {
	return behaviors.EventSourced("words", presented(j), "", hear, func(_ *actor.Context[question], heard string, q question) persistence.Effect[said] {
		switch q.Word {
		case "…":
			return persistence.None
		case "later":
			if heard == "" {
				return persistence.Stash
			}
		}
		return persistence.ThenReply(persistence.Persist(said{q.Word}), q.ReplyTo, heard+q.Word).ThenUnstashAll()
	})
}

// An outcome is how an ask ends.
type outcome struct {
	reply string
	err   error
}

// ask asks in the background, with a deadline of two seconds.
func (w *world) ask(ref actor.ActorRef[question], word string) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		reply, err := actor.AskTimeout(w.Context(), ref, 2*time.Second, func(to actor.ActorRef[string]) question { return question{word, to} })
		done <- outcome{reply, err}
	}()
	synctest.Wait()
	return done
}

func (w *world) says(o outcome, why error) {
	w.Helper()
	require.ErrorIs(w, o.err, context.DeadlineExceeded)
	require.ErrorIs(w, o.err, why)
	require.ErrorContains(w, o.err, `"words"`)
}

func hangs(ctx context.Context, _ func() error) error {
	<-ctx.Done()
	return fmt.Errorf("%w: %w", persistence.ErrUnknown, context.Cause(ctx))
}

// hangsFor makes each call after some time.
func hangsFor(d time.Duration) func(context.Context, func() error) error {
	return func(_ context.Context, apply func() error) error {
		time.Sleep(d)
		return apply()
	}
}

var mailboxes = map[string][]actor.SpawnOption{
	"unbounded":   nil,
	"bounded":     {actor.Bounded(100)},
	"blocking":    {actor.Bounded(1).Block(time.Hour)},
	"prioritized": {actor.Prioritized(func(q question) int { return len(q.Word) })},
}

// Whatever the mailbox, all asks that wait for an append say so: the one whose events are stored,
// those that are stashed, those that wait, and those that come later. When the journal works again,
// nothing is said, no request is handled whose ask has ended, and the order stays.
func TestAsksThatWaitForAnAppendSayWhy(t *testing.T) {
	for name, test := range map[string]struct {
		appends func(context.Context, func() error) error
		why     error
	}{
		"full":  {always(persistence.ErrFull), persistence.ErrFull},
		"down":  {always(persistence.ErrUnavailable), persistence.ErrUnavailable},
		"lost":  {always(persistence.ErrUnknown), persistence.ErrUnknown},
		"hangs": {hangsFor(10 * time.Second), persistence.ErrUnknown},
	} {
		for kind, opts := range mailboxes {
			t.Run(name+", "+kind, func(t *testing.T) {
				inBubble(t, func(w *world) {
					ref := actor.Spawn(w.system, answering(w.journal), "", opts...)
					stashed := w.ask(ref, "later")
					w.journal.set(hooks{append: test.appends})
					first, behind, third := w.ask(ref, "a"), w.ask(ref, "b"), w.ask(ref, "c")
					time.Sleep(1500 * time.Millisecond)
					last := w.ask(ref, "d")
					for _, waits := range []<-chan outcome{stashed, first, behind, third, last} {
						w.says(<-waits, test.why)
					}
					w.journal.set(hooks{})
					time.Sleep(time.Minute)
					require.Equal(t, "a", w.events(), "the others have been withdrawn")
					require.Equal(t, outcome{reply: "ae"}, <-w.ask(ref, "e"))
					other := <-w.ask(ref, "…")
					require.ErrorIs(t, other.err, context.DeadlineExceeded)
					require.NotErrorIs(t, other.err, test.why)
					require.NotContains(t, other.err.Error(), "words")
				})
			})
		}
	}
}

// The journal works again before the deadline of an ask that nobody answers then.
func TestAnAskDoesNotNameAJournalThatWorksAgain(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := actor.Spawn(w.system, answering(w.journal), "")
		require.Equal(t, outcome{reply: "a"}, <-w.ask(ref, "a"))
		w.journal.set(hooks{append: answers(persistence.ErrFull, persistence.ErrFull)})
		first, behind := w.ask(ref, "b"), w.ask(ref, "…")
		time.Sleep(200 * time.Millisecond)
		later := w.ask(ref, "…")
		require.Equal(t, outcome{reply: "ab"}, <-first)
		for _, waits := range []<-chan outcome{behind, later} {
			o := <-waits
			require.ErrorIs(t, o.err, context.DeadlineExceeded)
			require.NotErrorIs(t, o.err, persistence.ErrFull)
		}
	})
}

// An append that takes some seconds is answered as ever.
func TestAnAskThatOutlivesAnAppendIsAnswered(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := actor.Spawn(w.system, answering(w.journal), "")
		w.journal.set(hooks{append: hangsFor(1500 * time.Millisecond)})
		first := w.ask(ref, "a")
		time.Sleep(time.Second)
		second := w.ask(ref, "…")
		require.Equal(t, outcome{reply: "a"}, <-first)
		o := <-second
		require.ErrorIs(t, o.err, context.DeadlineExceeded)
		require.NotErrorIs(t, o.err, persistence.ErrUnknown)
		for i := range 10 {
			require.Equal(t, fmt.Sprint("a", "bcdefghijk"[:i+1]), (<-w.ask(ref, "bcdefghijk"[i:i+1])).reply)
		}
	})
}

// The actor cannot be restored: it fails, waits, and is restored once the journal works.
func TestAsksThatWaitForARecoverySayWhy(t *testing.T) {
	for name, test := range map[string]struct {
		claim func(context.Context, func() error) error
		why   error
	}{
		"full":  {always(persistence.ErrFull), persistence.ErrFull},
		"down":  {always(persistence.ErrUnavailable), persistence.ErrUnavailable},
		"hangs": {hangs, persistence.ErrUnavailable},
	} {
		for kind, opts := range mailboxes {
			t.Run(name+", "+kind, func(t *testing.T) {
				inBubble(t, func(w *world) {
					w.journal.set(hooks{claim: test.claim})
					ref := actor.Spawn(w.system, behaviors.Supervise(answering(w.journal), actor.Strategy{Backoff: actor.Backoff{Min: 20 * time.Second}}), "", opts...)
					for range 30 { // also while it waits for its restart
						first := w.ask(ref, "a")
						second := w.ask(ref, "b")
						w.says(<-first, test.why)
						w.says(<-second, test.why)
						time.Sleep(time.Second)
					}
					w.journal.set(hooks{})
					time.Sleep(time.Minute)
					require.Equal(t, outcome{reply: "c"}, <-w.ask(ref, "c"))
					require.NotErrorIs(t, (<-w.ask(ref, "…")).err, test.why)
				})
			})
		}
	}
}

// One actor may recover at a time, and that one hangs.
func TestAsksThatWaitForTheRecoveryOfOthersSayWhy(t *testing.T) {
	inBubble(t, func(w *world) {
		persistence.LimitRecoveries(w.system, 1)
		w.journal.set(hooks{claim: hangs})
		w.spawn()
		time.Sleep(10 * time.Second)
		ref := actor.Spawn(w.system, answering(w.journal), "")
		w.says(<-w.ask(ref, "a"), persistence.ErrUnavailable)
	})
}

// Many ask while the journal fails now and then. Each reply is right, and each ask without one says
// what keeps it only if something does.
func TestRepliesStayTheSameWhileTheJournalFailsNowAndThen(t *testing.T) {
	inBubble(t, func(w *world) {
		var mu sync.Mutex
		n := 0
		w.journal.set(hooks{append: func(_ context.Context, apply func() error) error {
			mu.Lock()
			n++
			fails := n%3 != 0
			mu.Unlock()
			if fails {
				return persistence.ErrFull
			}
			return apply()
		}})
		ref := actor.Spawn(w.system, answering(w.journal), "")
		var all []<-chan outcome
		for i := range 10 {
			all = append(all, w.ask(ref, string(rune('a'+i))))
		}
		heard := ""
		for i, asked := range all {
			o := <-asked
			switch {
			case o.err == nil:
				heard += string(rune('a' + i))
				require.Equal(t, heard, o.reply)
			case errors.Is(o.err, actor.ErrWithdrawn):
				require.ErrorIs(t, o.err, persistence.ErrFull)
			case errors.Is(o.err, actor.ErrOverloaded):
			default:
				heard += string(rune('a' + i))
			}
		}
		time.Sleep(time.Minute)
		require.Equal(t, heard, w.events())
		var last journal.Record
		for r, err := range w.journal.Memory.Read(t.Context(), "words", 1, 1<<62) {
			require.NoError(t, err)
			last = r
		}
		require.EqualValues(t, len(heard), last.Seq)
	})
}
