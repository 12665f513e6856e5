package persistence_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/persistence"
)

// gated stashes itself until some word has been heard, and then stores word.
func gated(to actor.ActorRef[string], word string) command {
	return func(_ *actor.Context[command], heard string) persistence.Effect[said] {
		if heard == "" {
			return persistence.Stash
		}
		return persistence.ThenReply(persistence.Persist(said{word}), to, word)
	}
}

func do(effect persistence.Effect[said]) command {
	return func(*actor.Context[command], string) persistence.Effect[said] { return effect }
}

func TestAReplyNeedsNoEvent(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.spawn()
		ref.Tell(do(persistence.Reply[said](w.to, "1").Then(func() { w.to.Tell("2") })))
		ref.Tell(do(persistence.ThenReply(persistence.Reply[said](w.to, "3"), w.to, "4").ThenStop()))
		for _, want := range []string{"1", "2", "3", "4"} {
			w.replies.Expect(want)
		}
		w.replies.ExpectTerminated(ref)
		require.Empty(w, w.journal.sent())
	})
}

func TestCommandsAreUnstashedOneByOneOrAllTogether(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.spawn()
		for _, word := range []string{"a", "b", "c", "d", "e", "f"} {
			ref.Tell(gated(w.to, word))
		}
		ref.Tell(do(persistence.Unstash[said](2))) // still gated: they go to the end
		ref.Tell(do(persistence.Persist(said{">"})))
		ref.Tell(do(persistence.Unstash[said](1)))
		ref.Tell(say(w.to, "-"))
		ref.Tell(do(persistence.Persist(said{"+"}).ThenUnstash(1).ThenUnstash(1).ThenUnstash(-1)))
		ref.Tell(do(persistence.Unstash[said](0)))
		ref.Tell(say(w.to, "-"))
		ref.Tell(do(persistence.UnstashAll))
		for _, want := range []string{"c", "-", "d", "e", "-", "f", "a", "b"} {
			w.replies.Expect(want)
		}
		require.Equal(w, ">c-+de-fab", w.events())
	})
}

func TestWhatIsPutAsideWhileUnstashingWaitsForTheNextTime(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.spawn()
		runs := 0
		again := func(*actor.Context[command], string) persistence.Effect[said] {
			runs++
			return persistence.Effect[said](persistence.Stash[said]).ThenUnstashAll()
		}
		ref.Tell(again)
		synctest.Wait()
		require.Equal(w, 1, runs, "a command does not unstash itself")
		ref.Tell(putAside)
		ref.Tell(do(persistence.UnstashAll))
		synctest.Wait()
		require.Equal(w, 2, runs)
	})
}

func TestTenThousandCommandsAreUnstashedInOrder(t *testing.T) {
	for name, unstash := range map[string]persistence.Effect[said]{
		"all at once":                 persistence.UnstashAll[said],
		"each unstashes the next one": persistence.Unstash[said](1),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				const n = 10_000
				ref := w.spawn(options{StashCapacity: n})
				open := false
				var order []int
				for i := range n {
					ref.Tell(func(*actor.Context[command], string) persistence.Effect[said] {
						if !open {
							return persistence.Stash
						}
						order = append(order, i)
						return unstash
					})
				}
				ref.Tell(func(*actor.Context[command], string) persistence.Effect[said] {
					open = true
					return unstash
				})
				synctest.Wait()
				require.Len(w, order, n)
				require.True(w, slices.IsSorted(order))
			})
		})
	}
}

func TestUnstashedCommandsRunAlthoughOneOfThemFailsAndTheActorResumes(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.supervised(resume)
		gatedPanic := func(_ *actor.Context[command], heard string) persistence.Effect[said] {
			if heard == "" {
				return persistence.Stash
			}
			panic("boom")
		}
		for _, cmd := range []command{gated(w.to, "a"), gatedPanic, gated(w.to, "b"), gatedPanic, gated(w.to, "c")} {
			ref.Tell(cmd)
		}
		ref.Tell(do(persistence.Persist(said{">"}).ThenUnstashAll()))
		for _, want := range []string{"a", "b", "c"} {
			w.replies.Expect(want)
		}
	})
}

// Stashed commands survive a temporary failure of the journal, but not a panic.
func TestStashedCommandsOutlastAFailureOfTheJournalThatPasses(t *testing.T) {
	inBubble(t, func(w *world) {
		ref := w.spawn(options{OnPersistFailure: actor.Backoff{Min: time.Second}})
		ref.Tell(gated(w.to, "a"))
		ref.Tell(gated(w.to, "b"))
		synctest.Wait()
		w.journal.set(hooks{append: answers(persistence.ErrUnavailable, persistence.ErrUnknown)})
		ref.Tell(do(persistence.Persist(said{">"}).ThenUnstashAll()))
		ref.Tell(gated(w.to, "c"))
		w.replies.ExpectNone(2*time.Second - 1)
		for _, want := range []string{"a", "b", "c"} {
			w.replies.Expect(want)
		}
		require.Equal(w, ">abc", w.events())
	})
}

// They go behind those that wait, in order, and decide anew.
func TestStashedCommandsOutlastARestartThatTheJournalIsToBlameFor(t *testing.T) {
	inBubble(t, func(w *world) {
		lost := w.deadLetters()
		failing := answers(persistence.ErrUnavailable)
		w.journal.set(hooks{append: func(ctx context.Context, apply func() error) error {
			return slowly(ctx, func() error { return failing(ctx, apply) })
		}})
		ref := actor.Spawn(w.system, behaviors.Supervise(words(w.journal, options{OnPersistFailure: actor.Backoff{Min: -1}}),
			actor.Strategy{Backoff: actor.Backoff{Min: time.Second}}), "")
		for _, word := range []string{"a", "b"} {
			ref.Tell(gated(w.to, word))
		}
		ref.Tell(do(persistence.Persist(said{"fails"})))
		synctest.Wait()
		ref.Tell(gated(w.to, "c"))
		ref.Tell(do(persistence.Persist(said{">"}).ThenUnstashAll()))
		w.replies.Within(time.Minute, func() { w.expect("c", "a", "b") })
		require.Equal(w, ">cab", w.events())
		lost.ExpectNone(time.Hour)
	})
}

// Without a next incarnation they become dead letters.
func TestStashedCommandsDoNotOutlastAnActorThatIsFencedOff(t *testing.T) {
	inBubble(t, func(w *world) {
		lost := w.deadLetters()
		ref := w.supervised(nil)
		ref.Tell(gated(w.to, "a"))
		synctest.Wait()
		w.spawn()
		synctest.Wait()
		ref.Tell(say(w.to, "b"))
		require.ErrorIs(w, lost.Receive().Reason, actor.ErrTerminated)
		w.replies.ExpectTerminated(ref)
	})
}

func TestStashedCommandsDoNotOutlastARestart(t *testing.T) {
	inBubble(t, func(w *world) {
		lost := w.deadLetters()
		ref := w.supervised(nil)
		ref.Tell(gated(w.to, "a"))
		ref.Tell(explode)
		require.ErrorContains(w, lost.Receive().Reason, "the actor was restarted while the command was stashed")
		ref.Tell(say(w.to, "b"))
		w.replies.Expect("b")
		require.Equal(w, "b", w.events())
	})
}

func TestAStopComesBetweenUnstashedCommands(t *testing.T) {
	inBubble(t, func(w *world) {
		lost := w.deadLetters()
		w.journal.set(hooks{append: slowly})
		ctx, stop := context.WithCancel(w.Context())
		ref := actor.Spawn(w.system, words(w.journal), "", extension.WithContext(ctx))
		ref.Tell(gated(w.to, "a"))
		ref.Tell(gated(w.to, "b"))
		ref.Tell(do(persistence.Persist(said{">"}).ThenUnstashAll()))
		ref.Tell(say(w.to, "lost"))
		synctest.Wait()
		stop()
		w.replies.Within(time.Hour, func() { w.replies.ExpectTerminated(ref) })
		require.Equal(w, ">", w.events())
		for range 3 { // a, b and lost
			require.ErrorIs(w, lost.Receive().Reason, actor.ErrTerminated)
		}
		require.Equal(w, uint64(3), w.system.DeadLetters())
	})
}

// Two commands that stash and unstash each other would otherwise keep the actor forever.
func TestAStopComesBetweenCommandsThatUnstashEachOther(t *testing.T) {
	for name, append := range map[string]func(context.Context, func() error) error{"storing": slowly, "at once": nil} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				w.journal.set(hooks{append: append})
				ctx, stop := context.WithCancel(w.Context())
				ref := actor.Spawn(w.system, words(w.journal), "", extension.WithContext(ctx))
				turns := 0
				again := func(*actor.Context[command], string) persistence.Effect[said] {
					if turns++; turns == 1000 {
						stop()
					}
					if name == "storing" {
						return func(p *persistence.Plan[said]) {
							persistence.Persist(said{"x"}).ThenUnstashAll()(p)
							persistence.Stash(p)
						}
					}
					return func(p *persistence.Plan[said]) {
						persistence.UnstashAll(p)
						persistence.Stash(p)
					}
				}
				lost := w.deadLetters()
				ref.Tell(again)
				ref.Tell(again)
				w.replies.Within(100*time.Hour, func() { w.replies.ExpectTerminated(ref) })
				require.Equal(w, 1000, turns)
				for range 2 {
					require.ErrorIs(w, lost.Receive().Reason, actor.ErrTerminated)
				}
			})
		})
	}
}

func TestABoundedMailboxBoundsWhatWaitsForRecoveryAndForAWrite(t *testing.T) {
	for name, slow := range map[string]hooks{"recovery": {claim: slowly}, "a write": {append: slowly}} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				lost := w.deadLetters()
				w.journal.set(slow)
				ref := actor.Spawn(w.system, words(w.journal), "", actor.Bounded(3))
				ref.Tell(say(w.to, ">"))
				synctest.Wait()
				for word := range strings.SplitSeq("abcdefgh", "") {
					ref.Tell(say(w.to, word))
				}
				w.journal.set(hooks{})
				w.replies.Expect(">")
				require.ErrorIs(w, lost.Receive().Reason, actor.ErrMailboxFull)
				synctest.Wait()
				heard := w.events()
				require.Equal(w, ">abcdefgh"[:len(heard)], heard)
				require.Less(w, len(heard), 5)
			})
		})
	}
}
