package behaviors_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/testkit"
)

// deadLetters returns a probe of all dead letters of s from now on.
func deadLetters(t *testing.T, s *actor.System) *testkit.Probe[actor.DeadLetter] {
	t.Helper()
	p := testkit.NewProbe[actor.DeadLetter](t, s)
	actor.Subscribe(s, p.Ref())
	return p
}

// holding stashes all messages until it gets "open", and then continues with then.
func holding(stash *actor.Stash[string], then func() actor.Behavior[string]) actor.Behavior[string] {
	return behaviors.Receive(func(_ *actor.Context[string], word string) actor.Behavior[string] {
		if word == "open" {
			return then()
		}
		return stash.Stash(word)
	})
}

func tellAll[M any](ref actor.ActorRef[M], msgs ...M) {
	for _, m := range msgs {
		ref.Tell(m)
	}
}

func TestWhatIsUnstashedComesInOrderBeforeWhatWasToldLater(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, behaviors.WithStash(3, func(stash *actor.Stash[string]) actor.Behavior[string] {
			return holding(stash, func() actor.Behavior[string] { return stash.UnstashAll(repeat(p)) })
		}), "it")
		tellAll(ref, "1", "2", "3", "open", "later")
		expectAll(p, "1", "2", "3", "later")
	})
}

func TestWhatIsUnstashedIsHandledBySuccessiveBehaviors(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		var state func(n int) actor.Behavior[string]
		state = func(n int) actor.Behavior[string] {
			return behaviors.Receive(func(_ *actor.Context[string], word string) actor.Behavior[string] {
				p.Ref().Tell(fmt.Sprint(word, " in state ", n))
				return state(n + 1)
			})
		}
		ref := actor.Spawn(s, behaviors.WithStash(3, func(stash *actor.Stash[string]) actor.Behavior[string] {
			return holding(stash, func() actor.Behavior[string] { return stash.UnstashAll(state(0)) })
		}), "it")
		tellAll(ref, "a", "b", "open", "c")
		expectAll(p, "a in state 0", "b in state 1", "c in state 2")
	})
}

func TestWhatIsStashedAgainWaitsForTheNextPassAndIsNotLost(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, behaviors.WithStash(3, func(stash *actor.Stash[string]) actor.Behavior[string] {
			pass := 0
			return behaviors.Receive(func(_ *actor.Context[string], word string) actor.Behavior[string] {
				if word == "open" {
					pass++
					return stash.UnstashAll(behaviors.Same)
				}
				p.Ref().Tell(fmt.Sprint(word, " in pass ", pass))
				if pass == 2 {
					return behaviors.Same
				}
				return stash.Stash(word)
			})
		}), "it")
		tellAll(ref, "a", "b", "open")
		expectAll(p, "a in pass 0", "b in pass 0", "a in pass 1", "b in pass 1")
		p.ExpectNone(time.Hour)
		ref.Tell("open")
		expectAll(p, "a in pass 2", "b in pass 2")
		p.ExpectNone(time.Hour)
	})
}

func TestAFullStashFailsTheActorAndWhatHadNoRoomIsADeadLetter(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		dead := deadLetters(t, s)
		var failure error
		ref := actor.Spawn(s, behaviors.WithStash(2, func(stash *actor.Stash[string]) actor.Behavior[string] {
			return behaviors.Supervise(holding(stash, func() actor.Behavior[string] { return stash.UnstashAll(repeat(p)) }),
				actor.Strategy{Decide: func(err error) actor.Directive {
					failure = err
					return actor.Resume
				}})
		}), "it")
		tellAll(ref, "a", "b", "c")
		lost := dead.Receive()
		require.Equal(t, "c", lost.Message)
		require.ErrorIs(t, lost.Reason, actor.ErrStashFull)
		ref.Tell("open")
		expectAll(p, "a", "b")
		require.ErrorIs(t, failure, actor.ErrStashFull)
		dead.ExpectNone(time.Hour)
	})
}

func TestSomeMayBeUnstashedAndChangedOnTheWay(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, behaviors.WithStash(4, func(stash *actor.Stash[string]) actor.Behavior[string] {
			return behaviors.Receive(func(_ *actor.Context[string], word string) actor.Behavior[string] {
				if word == "open" {
					return stash.Unstash(behaviors.Same, 2, strings.ToUpper)
				}
				if word == strings.ToUpper(word) {
					p.Ref().Tell(fmt.Sprint(word, ", left ", stash.Len()))
					return behaviors.Same
				}
				return stash.Stash(word)
			})
		}), "it")
		tellAll(ref, "a", "b", "c", "open", "D", "open", "open")
		expectAll(p, "A, left 1", "B, left 1", "D, left 1", "C, left 0")
		p.ExpectNone(time.Hour)
	})
}

func TestAStashSaysHowFullItIsAndCanBeCleared(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		dead := deadLetters(t, s)
		ref := actor.Spawn(s, behaviors.WithStash(2, func(stash *actor.Stash[string]) actor.Behavior[string] {
			return behaviors.Receive(func(_ *actor.Context[string], word string) actor.Behavior[string] {
				switch word {
				case "look":
					p.Ref().Tell(fmt.Sprintf("%d %t", stash.Len(), stash.Full()))
					return behaviors.Same
				case "clear":
					stash.Clear()
					return behaviors.Same
				}
				return stash.Stash(word)
			})
		}), "it")
		tellAll(ref, "look", "a", "look", "b", "look", "clear", "look", "clear")
		expectAll(p, "0 false", "1 false", "2 true", "0 false")
		for _, want := range []string{"a", "b"} {
			lost := dead.Receive()
			require.Equal(t, want, lost.Message)
			require.Equal(t, ref.String(), lost.Recipient)
			require.ErrorIs(t, lost.Reason, actor.ErrDropped)
		}
		dead.ExpectNone(time.Hour)
	})
}

func TestAFailureWhileUnstashingLosesOneMessageOnly(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		dead := deadLetters(t, s)
		starts := 0
		b := behaviors.Supervise(behaviors.WithStash(10, func(stash *actor.Stash[string]) actor.Behavior[string] {
			if starts++; starts > 1 {
				return repeat(p)
			}
			return holding(stash, func() actor.Behavior[string] { return stash.UnstashAll(repeat(p)) })
		}), actor.Strategy{Backoff: actor.Backoff{Min: time.Minute}})
		ref := actor.Spawn(s, b, "it")
		tellAll(ref, "1", "fail", "3", "4", "open", "told later")
		expectAll(p, "1", "fail", "actor.PreRestart")
		p.ExpectNone(time.Minute - 1)
		expectAll(p, "3", "4", "told later")
		dead.ExpectNone(time.Hour)
	})
}

func TestAStopWhileUnstashingMakesDeadLettersOfTheRest(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		dead := deadLetters(t, s)
		ref := actor.Spawn(s, behaviors.WithStash(10, func(stash *actor.Stash[string]) actor.Behavior[string] {
			return behaviors.Receive(func(_ *actor.Context[string], word string) actor.Behavior[string] {
				switch word {
				case "open":
					return stash.Unstash(repeat(p), 3, nil)
				}
				return stash.Stash(word)
			})
		}), "it")
		tellAll(ref, "1", "stop", "3", "4", "open", "5")
		expectAll(p, "1", "stop", "actor.PostStop")
		p.ExpectTerminated(ref)
		var lost []any
		for range 3 {
			one := dead.Receive()
			require.ErrorIs(t, one.Reason, actor.ErrTerminated)
			lost = append(lost, one.Message)
		}
		require.ElementsMatch(t, []any{"3", "4", "5"}, lost)
		dead.ExpectNone(time.Hour)
	})
}

func TestAStashOutsideOfSupervisionOutlivesARestartOneInsideIsLost(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		dead := deadLetters(t, s)
		ref := actor.Spawn(s, behaviors.WithStash(10, func(outer *actor.Stash[string]) actor.Behavior[string] {
			return behaviors.Supervise(behaviors.WithStash(10, func(inner *actor.Stash[string]) actor.Behavior[string] {
				return behaviors.Receive(func(ctx *actor.Context[string], word string) actor.Behavior[string] {
					switch {
					case word == "open":
						return outer.UnstashAll(inner.UnstashAll(repeat(p)))
					case word == "fail":
						return ctx.Fail(errors.New("as told"))
					case strings.HasPrefix(word, "outer"):
						return outer.Stash(word)
					}
					return inner.Stash(word)
				})
			}), actor.Strategy{})
		}), "it")
		tellAll(ref, "outer 1", "inner 1", "fail", "outer 2", "inner 2", "open")
		lost := dead.Receive()
		require.Equal(t, "inner 1", lost.Message)
		require.ErrorIs(t, lost.Reason, actor.ErrDropped)
		expectAll(p, "inner 2", "outer 1", "outer 2")
		dead.ExpectNone(time.Hour)
	})
}

func TestWhatIsInAStashWhenTheActorStopsIsADeadLetter(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		dead := deadLetters(t, s)
		ref := actor.Spawn(s, behaviors.WithStash(10, func(stash *actor.Stash[string]) actor.Behavior[string] {
			return holding(stash, func() actor.Behavior[string] { return behaviors.Stopped })
		}), "it")
		tellAll(ref, "a", "b", "open")
		for _, want := range []string{"a", "b"} {
			lost := dead.Receive()
			require.Equal(t, want, lost.Message)
			require.ErrorIs(t, lost.Reason, actor.ErrTerminated)
		}
	})
}

func TestUnstashingTenThousandGrowsNoStack(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		const stashed = 10_000
		p := testkit.NewProbe[int](t, s)
		deepest := 0
		ref := actor.Spawn(s, behaviors.WithStash(stashed, func(stash *actor.Stash[int]) actor.Behavior[int] {
			var state func() actor.Behavior[int]
			state = func() actor.Behavior[int] {
				return behaviors.Receive(func(_ *actor.Context[int], n int) actor.Behavior[int] {
					deepest = max(deepest, runtime.Callers(0, make([]uintptr, 1000)))
					p.Ref().Tell(n)
					return state()
				})
			}
			return behaviors.Receive(func(_ *actor.Context[int], n int) actor.Behavior[int] {
				if n < 0 {
					return stash.UnstashAll(state())
				}
				return stash.Stash(n)
			})
		}), "it")
		for n := range stashed {
			ref.Tell(n)
		}
		ref.Tell(-1)
		for n := range stashed {
			p.Expect(n)
		}
		require.Less(t, deepest, 30)
	})
}

func TestAStashThatABehaviorMakesAgainAndAgainDoesNotPileUp(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		came := 0
		var again func() actor.Behavior[int]
		again = func() actor.Behavior[int] {
			return behaviors.WithStash(1, func(stash *actor.Stash[int]) actor.Behavior[int] {
				return behaviors.Receive(func(_ *actor.Context[int], n int) actor.Behavior[int] {
					if n%2 == 0 {
						return stash.Stash(n)
					}
					return stash.UnstashAll(behaviors.Receive(func(_ *actor.Context[int], m int) actor.Behavior[int] {
						if m == 2*came {
							came++
						}
						if came == many/2 {
							p.Ref().Tell(came)
						}
						return again()
					}))
				})
			})
		}
		ref := actor.Spawn(s, again(), "again")
		for n := range many {
			ref.Tell(n)
		}
		p.Expect(many / 2)
		p.ExpectNone(time.Hour)
	})
}

func TestUnstashingWorksInABoundedMailboxToo(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, behaviors.WithStash(10, func(stash *actor.Stash[string]) actor.Behavior[string] {
			return holding(stash, func() actor.Behavior[string] { return stash.UnstashAll(repeat(p)) })
		}), "it", actor.Bounded(1))
		for _, word := range []string{"1", "2", "3"} {
			ref.Tell(word)
			p.ExpectNone(time.Second)
		}
		ref.Tell("open")
		expectAll(p, "1", "2", "3")
		require.Zero(t, s.DeadLetters())
	})
}

func TestAStashNeedsRoom(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		p.ExpectTerminated(actor.Spawn(s, behaviors.WithStash(0, func(*actor.Stash[string]) actor.Behavior[string] {
			return repeat(p)
		}), "it"))
	})
}

func TestAnActorThatResumesGoesOnWithItsFullStashAndAnyNumberMayBeUnstashed(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		dead := testkit.NewProbe[actor.DeadLetter](t, s)
		actor.Subscribe(s, dead.Ref())
		shut := func(stash *actor.Stash[string]) actor.Behavior[string] {
			return behaviors.Receive(func(_ *actor.Context[string], word string) actor.Behavior[string] {
				switch word {
				case "none":
					return stash.Unstash(behaviors.Same, 0, nil)
				case "fewer than none":
					return stash.Unstash(behaviors.Same, -3, nil)
				case "more than there are":
					return stash.Unstash(repeat(p), 100, nil)
				}
				return stash.Stash(word)
			})
		}
		ref := actor.Spawn(s, behaviors.Supervise(behaviors.WithStash(2, shut), actor.Strategy{
			Decide: func(error) actor.Directive { return actor.Resume },
		}), "it")
		tellAll(ref, "a", "b", "c", "none", "fewer than none", "more than there are", "d")
		expectAll(p, "a", "b", "d")
		lost := dead.Receive()
		require.Equal(t, "c", lost.Message)
		require.ErrorIs(t, lost.Reason, actor.ErrStashFull)
		dead.ExpectNone(time.Hour)
	})
}
