package behaviors_test

import (
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/testkit"
)

// many is how often a behavior installs itself again in tests of what must not pile up.
const many = 100_000

// announcing tells p of everything that passes, under a name.
func announcing[M any](p *testkit.Probe[string], name string) *behaviors.Interceptor[M] {
	return &behaviors.Interceptor[M]{
		Start: func(_ *actor.Context[M], b actor.Behavior[M]) actor.Behavior[M] {
			p.Ref().Tell(name + " starts")
			return b
		},
		Message: func(ctx *actor.Context[M], msg M, inner actor.MessageHandler[M]) actor.Behavior[M] {
			p.Ref().Tell(fmt.Sprintf("%s before %v", name, msg))
			defer func() { p.Ref().Tell(fmt.Sprintf("%s after %v", name, msg)) }()
			return inner(ctx, msg)
		},
		Signal: func(ctx *actor.Context[M], sig actor.Signal, inner actor.SignalHandler[M]) actor.Behavior[M] {
			p.Ref().Tell(fmt.Sprintf("%s sees %T", name, sig))
			return inner(ctx, sig)
		},
	}
}

func expectAll(p *testkit.Probe[string], want ...string) {
	for _, w := range want {
		p.Expect(w)
	}
}

// repeat sends p each message that it gets. "stop" stops it, and "fail" fails it.
func repeat(p *testkit.Probe[string]) actor.Behavior[string] {
	return parrot(p, func(word string) actor.Behavior[string] {
		switch word {
		case "stop":
			return behaviors.Stopped
		case "fail":
			panic("as told")
		}
		return behaviors.Same
	})
}

func TestAnInterceptorMaySwallowMessages(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		odd := &behaviors.Interceptor[int]{
			Message: func(ctx *actor.Context[int], n int, inner actor.MessageHandler[int]) actor.Behavior[int] {
				if n%2 == 0 {
					return behaviors.Same
				}
				return inner(ctx, n)
			},
		}
		ref := actor.Spawn(s, behaviors.Intercept(odd, behaviors.Receive(func(_ *actor.Context[int], n int) actor.Behavior[int] {
			p.Ref().Tell(n)
			return behaviors.Same
		})), "odd")
		for n := range 5 {
			ref.Tell(n)
		}
		p.Expect(1)
		p.Expect(3)
		p.ExpectNone(time.Hour)
	})
}

func TestInterceptorsNestFromTheOutsideIn(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, behaviors.Intercept(announcing[string](p, "outer"),
			behaviors.Setup(func(*actor.Context[string]) actor.Behavior[string] {
				p.Ref().Tell("setup")
				return behaviors.Intercept(announcing[string](p, "inner"), repeat(p))
			})), "parrot")
		ref.Tell("hello")
		ref.Tell("stop")
		expectAll(p, "outer starts", "setup", "inner starts",
			"outer before hello", "inner before hello", "hello", "inner after hello", "outer after hello",
			"outer before stop", "inner before stop", "stop", "inner after stop", "outer after stop",
			"outer sees actor.PostStop", "inner sees actor.PostStop", "actor.PostStop")
		p.ExpectTerminated(ref)
	})
}

func TestAnInterceptorMayReplaceWhatStarts(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		instead := &behaviors.Interceptor[string]{
			Start: func(*actor.Context[string], actor.Behavior[string]) actor.Behavior[string] { return repeat(p) },
		}
		actor.Spawn(s, behaviors.Intercept(instead, behaviors.Ignore[string]), "other").Tell("it is me")
		p.Expect("it is me")
	})
}

func TestAnInterceptorStaysWhenTheBehaviorChanges(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		quiet := behaviors.Receive(func(*actor.Context[string], string) actor.Behavior[string] { return behaviors.Same })
		ref := actor.Spawn(s, behaviors.Intercept(announcing[string](p, "it"),
			parrot(p, func(string) actor.Behavior[string] { return quiet })), "parrot")
		ref.Tell("one")
		ref.Tell("two")
		expectAll(p, "it starts", "it before one", "one", "it after one", "it before two", "it after two")
	})
}

func TestAnInterceptorSeesTheEndOfAWatchedActorEvenWithoutASignalHandler(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		mortal := actor.Spawn(s, repeat(p), "mortal")
		ref := actor.Spawn(s, behaviors.Intercept(announcing[string](p, "it"),
			func(ctx *actor.Context[string], next *actor.Next[string]) {
				ctx.Watch(mortal)
				next.OnMessage = func(*actor.Context[string], string) actor.Behavior[string] { return nil }
			}), "watcher")
		p.Expect("it starts")
		mortal.Tell("stop")
		expectAll(p, "stop", "actor.PostStop", "it sees actor.Terminated", "it sees actor.PostStop")
		p.ExpectTerminated(ref)
	})
}

func TestAnInterceptorThatIsInstalledAgainAndAgainIsThereOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		calls, depth := 0, 0
		counting := &behaviors.Interceptor[int]{
			Message: func(ctx *actor.Context[int], n int, inner actor.MessageHandler[int]) actor.Behavior[int] {
				calls++
				return inner(ctx, n)
			},
		}
		var again func() actor.Behavior[int]
		again = func() actor.Behavior[int] {
			return behaviors.Intercept(counting, behaviors.Intercept(counting, behaviors.Receive(
				func(_ *actor.Context[int], n int) actor.Behavior[int] {
					if n == many {
						depth = runtime.Callers(0, make([]uintptr, 1000))
						p.Ref().Tell(n)
					}
					return again()
				})))
		}
		ref := actor.Spawn(s, again(), "again")
		for n := range many + 1 {
			ref.Tell(n)
		}
		p.Expect(many)
		require.Equal(t, many+1, calls)
		require.Less(t, depth, 30)
	})
}

func TestInterceptorsThatHandlersReturnNeverPileUp(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		calls := 0
		var again func() actor.Behavior[int]
		again = func() actor.Behavior[int] {
			return behaviors.Intercept(&behaviors.Interceptor[int]{ // another one each time
				Message: func(ctx *actor.Context[int], n int, inner actor.MessageHandler[int]) actor.Behavior[int] {
					calls++
					return inner(ctx, n)
				},
			}, behaviors.Receive(func(_ *actor.Context[int], n int) actor.Behavior[int] {
				if n == many {
					p.Ref().Tell(calls)
				}
				return again()
			}))
		}
		ref := actor.Spawn(s, behaviors.Receive(func(*actor.Context[int], int) actor.Behavior[int] { return again() }), "again")
		for n := range many + 1 {
			ref.Tell(n)
		}
		p.Expect(many)
	})
}

func TestAnInterceptorOutsideOfSupervisionOutlivesRestartsOneInsideStartsAnew(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, behaviors.Intercept(announcing[string](p, "outer"),
			behaviors.Supervise(behaviors.Intercept(announcing[string](p, "inner"), repeat(p)), actor.Strategy{})), "parrot")
		expectAll(p, "outer starts", "inner starts")
		ref.Tell("fail")
		expectAll(p, "outer before fail", "inner before fail", "fail", "inner after fail", "outer after fail",
			"outer sees actor.PreRestart", "inner sees actor.PreRestart", "actor.PreRestart", "inner starts")
		ref.Tell("hello")
		expectAll(p, "outer before hello", "inner before hello", "hello", "inner after hello", "outer after hello")
	})
}

func TestSupervisionThatAHandlerReturnsRestartsWithTheInterceptorsAroundIt(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		brittle := behaviors.Intercept(announcing[string](p, "later"), behaviors.Supervise(repeat(p), actor.Strategy{}))
		ref := actor.Spawn(s, behaviors.Intercept(announcing[string](p, "first"),
			behaviors.Receive(func(*actor.Context[string], string) actor.Behavior[string] { return brittle })), "parrot")
		ref.Tell("change")
		expectAll(p, "first starts", "first before change", "first after change", "later starts")
		ref.Tell("fail")
		expectAll(p, "first before fail", "later before fail", "fail", "later after fail", "first after fail",
			"first sees actor.PreRestart", "later sees actor.PreRestart", "actor.PreRestart")
		ref.Tell("hello")
		expectAll(p, "first before hello", "later before hello", "hello", "later after hello", "first after hello")
	})
}

func TestAnInterceptorThatFailsIsSupervised(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		failing := &behaviors.Interceptor[string]{
			Message: func(ctx *actor.Context[string], word string, inner actor.MessageHandler[string]) actor.Behavior[string] {
				if word == "intercepted" {
					return ctx.Fail(errors.New("no"))
				}
				return inner(ctx, word)
			},
		}
		ref := actor.Spawn(s, behaviors.Supervise(behaviors.Intercept(failing, repeat(p)), actor.Strategy{}), "parrot")
		ref.Tell("intercepted")
		ref.Tell("hello")
		expectAll(p, "actor.PreRestart", "hello")
	})
}

func TestATransitionThatFailsPutsNothingAroundTheBehavior(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, behaviors.Supervise(parrot(p, func(word string) actor.Behavior[string] {
			if word == "fail" {
				return behaviors.Intercept(announcing[string](p, "it"),
					func(*actor.Context[string], *actor.Next[string]) { panic("half way") })
			}
			return behaviors.Same
		}), actor.Strategy{Decide: func(error) actor.Directive { return actor.Resume }}), "parrot")
		ref.Tell("fail")
		ref.Tell("hello")
		expectAll(p, "fail", "it starts", "hello")
		p.ExpectNone(time.Hour)
	})
}

func TestAnInterceptorSeesTimersAndAdaptedMessages(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		actor.Spawn(s, behaviors.Intercept(announcing[string](p, "it"),
			behaviors.Setup(func(ctx *actor.Context[string]) actor.Behavior[string] {
				ctx.After("later", time.Minute, "timer")
				actor.Adapt(ctx, func(n int) string { return fmt.Sprint("number ", n) }).Tell(7)
				return repeat(p)
			})), "parrot")
		expectAll(p, "it starts", "it before number 7", "number 7", "it after number 7")
		p.ExpectNone(time.Minute - 1)
		expectAll(p, "it before timer", "timer", "it after timer")
	})
}

func TestAnInterceptorDecidesWhetherTheEndOfAWatchedActorWasHandled(t *testing.T) {
	for name, test := range map[string]struct {
		signals actor.SignalHandler[task] // of the behavior; nil: none
		says    actor.Behavior[task]      // the interceptor
		alive   bool
	}{
		"swallows what nobody handles":  {nil, behaviors.Same[task], true},
		"refuses what has been handled": {func(*actor.Context[task], actor.Signal) actor.Behavior[task] { return behaviors.Same }, behaviors.Unhandled[task], false},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				p := testkit.NewProbe[string](t, s)
				mortal := actor.Spawn(s, behaviors.Receive(func(*actor.Context[int], int) actor.Behavior[int] { return behaviors.Stopped }), "mortal")
				i := &behaviors.Interceptor[task]{Signal: func(ctx *actor.Context[task], sig actor.Signal, inner actor.SignalHandler[task]) actor.Behavior[task] {
					inner(ctx, sig)
					return test.says
				}}
				b := working()
				if test.signals != nil {
					b = b.OnSignal(test.signals)
				}
				ref := actor.Spawn(s, behaviors.Intercept(i, b), "it")
				ref.Tell(doing(func(ctx *actor.Context[task]) { ctx.Watch(mortal) }).content)
				mortal.Tell(1)
				if !test.alive {
					p.ExpectTerminated(ref)
					return
				}
				time.Sleep(time.Hour)
				ref.Tell(doing(func(*actor.Context[task]) { p.Ref().Tell("alive") }).content)
				p.Expect("alive")
			})
		})
	}
}
