package behaviors_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/testkit"
)

// inBubble runs f with a system in a bubble, in which time is virtual.
func inBubble(t *testing.T, f func(t *testing.T, s *actor.System)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Helper()
		f(t, testkit.NewSystem(t, testkit.WithoutEncoding()))
	})
}

// unhandled returns a probe of all unhandled messages of s from now on.
func unhandled(t *testing.T, s *actor.System) *testkit.Probe[actor.UnhandledMessage] {
	t.Helper()
	p := testkit.NewProbe[actor.UnhandledMessage](t, s)
	actor.Subscribe(s, p.Ref())
	return p
}

// parrot sends p each message and each signal that it gets, and continues as next says.
func parrot(p *testkit.Probe[string], next func(word string) actor.Behavior[string]) actor.Behavior[string] {
	return behaviors.Receive(func(_ *actor.Context[string], word string) actor.Behavior[string] {
		p.Ref().Tell(word)
		return next(word)
	}).OnSignal(func(_ *actor.Context[string], sig actor.Signal) actor.Behavior[string] {
		p.Ref().Tell(fmt.Sprintf("%T", sig))
		return behaviors.Same
	})
}

func TestSameKeepsTheBehavior(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, parrot(p, func(string) actor.Behavior[string] { return behaviors.Same }), "parrot")
		ref.Tell("one")
		ref.Tell("two")
		p.Expect("one")
		p.Expect("two")
	})
}

func TestStoppedEndsTheActor(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, parrot(p, func(string) actor.Behavior[string] { return behaviors.Stopped }), "parrot")
		ref.Tell("one")
		ref.Tell("two")
		p.Expect("one")
		p.Expect("actor.PostStop")
		p.ExpectTerminated(ref)
		require.EqualValues(t, 1, s.DeadLetters())
	})
}

func TestUnhandledPublishesTheMessageAndKeepsTheBehavior(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		unhandled := unhandled(t, s)
		ref := actor.Spawn(s, parrot(p, func(string) actor.Behavior[string] { return behaviors.Unhandled }), "parrot")
		for _, word := range []string{"one", "two"} {
			ref.Tell(word)
			p.Expect(word)
			unhandled.Expect(actor.UnhandledMessage{Recipient: ref.Path(), Message: word})
		}
	})
}

func TestIgnoreConsumesEveryMessageInSilence(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		unhandled := unhandled(t, s)
		ref := actor.Spawn(s, behaviors.Ignore[string], "deaf")
		ref.Tell("one")
		unhandled.ExpectNone(time.Hour)
		require.Zero(t, s.DeadLetters())
	})
}

func TestIgnoreConsumesTheEndsOfWatchedActorsAndFailuresOfAdaptersToo(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		mortal := actor.Spawn(s, parrot(p, func(string) actor.Behavior[string] { return behaviors.Stopped }), "mortal")
		adapters := make(chan actor.ActorRef[int], 1)
		ref := actor.Spawn(s, behaviors.Setup(func(ctx *actor.Context[string]) actor.Behavior[string] {
			ctx.Watch(mortal)
			adapters <- actor.Adapt(ctx, func(int) string { panic("broken") })
			return parrot(p, func(string) actor.Behavior[string] { return behaviors.Ignore })
		}), "parrot")
		ref.Tell("become another")
		p.Expect("become another")
		mortal.Tell("die")
		(<-adapters).Tell(1)
		p.Expect("die")
		p.Expect("actor.PostStop") // of the mortal
		p.ExpectNone(time.Hour)
		ref.Tell("alive?")
		require.Zero(t, s.DeadLetters())
	})
}

func TestEmptyTakesEveryMessageAsUnhandled(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		unhandled := unhandled(t, s)
		ref := actor.Spawn(s, behaviors.Empty[string], "empty")
		for _, word := range []string{"one", "two"} {
			ref.Tell(word)
			unhandled.Expect(actor.UnhandledMessage{Recipient: ref.Path(), Message: word})
		}
	})
}

func TestABehaviorWithoutASignalHandlerDoesNotInheritOne(t *testing.T) {
	for name, next := range map[string]actor.Behavior[string]{
		"Empty": behaviors.Empty[string],
		"Receive": behaviors.Receive(func(*actor.Context[string], string) actor.Behavior[string] {
			return behaviors.Same
		}),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				p := testkit.NewProbe[string](t, s)
				mortal := actor.Spawn(s, parrot(p, func(string) actor.Behavior[string] { return behaviors.Stopped }), "mortal")
				ref := actor.Spawn(s, behaviors.Setup(func(ctx *actor.Context[string]) actor.Behavior[string] {
					ctx.Watch(mortal)
					return parrot(p, func(string) actor.Behavior[string] { return next })
				}), "parrot")
				ref.Tell("become another")
				p.Expect("become another")
				mortal.Tell("die")
				p.Expect("die")
				p.Expect("actor.PostStop")
				p.ExpectTerminated(ref) // nobody handles the end of what it watches
				p.ExpectNone(time.Hour)
			})
		})
	}
}

func TestSetupsNestInWhateverIsAroundThem(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		saying := func(word string, b actor.Behavior[string]) actor.Behavior[string] {
			return behaviors.Setup(func(*actor.Context[string]) actor.Behavior[string] {
				p.Ref().Tell(word)
				return b
			})
		}
		innermost := parrot(p, func(string) actor.Behavior[string] { return behaviors.Same })
		ref := actor.Spawn(s, saying("outer", behaviors.Supervise(saying("middle", saying("inner", innermost)), actor.Strategy{})), "parrot")
		ref.Tell("hello")
		for _, want := range []string{"outer", "middle", "inner", "hello"} {
			p.Expect(want)
		}
	})
}

func TestSetupRunsInsideTheActorWhenItStartsAndAtEveryRestart(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		boom := errors.New("boom")
		b := behaviors.Supervise(behaviors.Setup(func(ctx *actor.Context[string]) actor.Behavior[string] {
			p.Ref().Tell("start of " + ctx.Self().Path())
			return behaviors.Receive(func(ctx *actor.Context[string], _ string) actor.Behavior[string] { return ctx.Fail(boom) })
		}), actor.Strategy{})
		p.ExpectNone(time.Hour)
		ref := actor.Spawn(s, b, "phoenix")
		p.Expect("start of understudy://test/user/phoenix")
		ref.Tell("burn")
		p.Expect("start of understudy://test/user/phoenix")
	})
}

func TestSetupMayBeATransition(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		second := parrot(p, func(string) actor.Behavior[string] { return behaviors.Same })
		first := behaviors.Receive(func(*actor.Context[string], string) actor.Behavior[string] {
			return behaviors.Setup(func(ctx *actor.Context[string]) actor.Behavior[string] {
				ctx.Self().Tell("told in the setup")
				return second
			})
		})
		actor.Spawn(s, first, "parrot").Tell("go")
		p.Expect("told in the setup")
	})
}

func TestOneBehaviorMayBeSpawnedManyTimes(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		var count func(n int) actor.Behavior[struct{}]
		count = func(n int) actor.Behavior[struct{}] {
			return behaviors.Receive(func(*actor.Context[struct{}], struct{}) actor.Behavior[struct{}] {
				p.Ref().Tell(n)
				return count(n + 1)
			})
		}
		b := behaviors.Supervise(count(1), actor.Strategy{})
		for range 3 {
			ref := actor.Spawn(s, b, "")
			ref.Tell(struct{}{})
			ref.Tell(struct{}{})
			p.Expect(1)
			p.Expect(2)
		}
	})
}

func TestSuperviseRestartsWhatFails(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, behaviors.Supervise(parrot(p, func(word string) actor.Behavior[string] {
			if word == "fall" {
				panic("down")
			}
			return behaviors.Same
		}), actor.Strategy{Backoff: actor.Backoff{Min: time.Second}}), "parrot")
		ref.Tell("fall")
		ref.Tell("rise")
		p.Expect("fall")
		p.Expect("actor.PreRestart")
		p.ExpectNone(time.Second - 1)
		p.Expect("rise")
	})
}

func TestWhatIsAroundABehaviorNeedsOne(t *testing.T) {
	var none actor.Behavior[int]
	for what, call := range map[string]func(){
		"Supervise needs a behavior":     func() { behaviors.Supervise(none, actor.Strategy{}) },
		"Monitor needs a behavior":       func() { behaviors.Monitor(actor.ActorRef[int]{}, none) },
		"Spy needs a behavior":           func() { behaviors.Spy(actor.ActorRef[behaviors.Observation]{}, none) },
		"SpyTree needs a behavior":       func() { behaviors.SpyTree(actor.ActorRef[behaviors.Observation]{}, none) },
		"LogMessages needs a behavior":   func() { behaviors.LogMessages(0, none) },
		"Intercept needs a behavior":     func() { behaviors.Intercept(&behaviors.Interceptor[int]{}, none) },
		"Intercept needs an interceptor": func() { behaviors.Intercept(nil, behaviors.Ignore[int]) },
		"Transform needs a behavior":     func() { behaviors.Transform(none, func(int) (int, bool) { return 0, false }) },
		"Transform needs a function":     func() { behaviors.Transform[string](behaviors.Ignore[int], nil) },
		"Receive needs a function":       func() { behaviors.Receive[int](nil) },
		"Setup needs a function":         func() { behaviors.Setup[int](nil) },
		"StoppedThen needs a function":   func() { behaviors.StoppedThen[int](nil) },
	} {
		require.PanicsWithValue(t, "behaviors: "+what, call)
	}
}

func TestStoppedThenCallsItsFunctionAfterPostStop(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		tell := func(what string) func() { return func() { p.Ref().Tell(what) } }
		ref := actor.Spawn(s, behaviors.Setup(func(ctx *actor.Context[int]) actor.Behavior[int] {
			ctx.Defer(tell("deferred"))
			return behaviors.Receive(func(*actor.Context[int], int) actor.Behavior[int] {
				return behaviors.StoppedThen[int](tell("then"))
			}).OnSignal(func(_ *actor.Context[int], sig actor.Signal) actor.Behavior[int] {
				tell(fmt.Sprintf("%T", sig))()
				return behaviors.Same
			})
		}), "it")
		ref.Tell(1)
		expectAll(p, "actor.PostStop", "then", "deferred")
		p.ExpectTerminated(ref)

		p.ExpectTerminated(actor.Spawn(s, behaviors.StoppedThen[int](tell("at once")), ""))
		p.Expect("at once")
	})
}
