package behaviors_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

// number turns words into numbers, if they are.
func number(word string) (int, bool) {
	n, err := strconv.Atoi(word)
	return n, err == nil
}

// A task is a message that contains its own handler.
type task func(ctx *actor.Context[task]) actor.Behavior[task]

func working() actor.Behavior[task] {
	return behaviors.Receive(func(ctx *actor.Context[task], t task) actor.Behavior[task] { return t(ctx) })
}

// A parcel is the outer message with a task in it.
type parcel struct{ content task }

func unpack(p parcel) (task, bool) { return p.content, p.content != nil }

func doing(f func(ctx *actor.Context[task])) parcel {
	return parcel{func(ctx *actor.Context[task]) actor.Behavior[task] {
		f(ctx)
		return behaviors.Same
	}}
}

func TestTransformedMessagesAreHandledOthersAreUnhandled(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		unhandled := unhandled(t, s)
		var sum func(n int) actor.Behavior[int]
		sum = func(n int) actor.Behavior[int] {
			return behaviors.Receive(func(_ *actor.Context[int], m int) actor.Behavior[int] {
				if m < 0 {
					return behaviors.Unhandled
				}
				p.Ref().Tell(n + m)
				return sum(n + m)
			})
		}
		ref := actor.Spawn(s, behaviors.Transform(sum(0), number), "sum")
		tellAll(ref, "1", "word", "2", "-1", "3")
		p.Expect(1)
		p.Expect(3)
		p.Expect(6)
		unhandled.Expect(actor.UnhandledMessage{Recipient: ref.Path(), Message: "word"})
		unhandled.Expect(actor.UnhandledMessage{Recipient: ref.Path(), Message: "-1"})
	})
}

func TestTimersInsideAndOutsideOfATransformationWork(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		inner := behaviors.Setup(func(ctx *actor.Context[int]) actor.Behavior[int] {
			ctx.Every("key", time.Minute, 1)
			return behaviors.Receive(func(ctx *actor.Context[int], n int) actor.Behavior[int] {
				p.Ref().Tell(fmt.Sprint("inner ", n))
				if n == 3 {
					ctx.CancelTimer("key")
				}
				return behaviors.Same
			})
		})
		ref := actor.Spawn(s, behaviors.Setup(func(ctx *actor.Context[string]) actor.Behavior[string] {
			ctx.After("key", 90*time.Second, "2")
			return behaviors.Transform(inner, number)
		}), "it")
		p.ExpectNone(time.Minute - 1)
		p.Expect("inner 1")
		p.ExpectNone(30*time.Second - 1)
		p.Expect("inner 2")
		p.ExpectNone(30*time.Second - 1)
		p.Expect("inner 1")
		ref.Tell("3")
		p.Expect("inner 3")
		p.ExpectNone(time.Hour)
	})
}

func TestWhatIsToldInsideOfATransformationBeginsTheReceiveTimeoutOutsideAnew(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		inner := behaviors.Transform(behaviors.Setup(func(ctx *actor.Context[int]) actor.Behavior[int] {
			ctx.Every("tick", 300*time.Millisecond, 1)
			return behaviors.Receive(func(ctx *actor.Context[int], n int) actor.Behavior[int] {
				p.Ref().Tell(fmt.Sprint("inner ", n))
				if n == 2 {
					ctx.CancelTimers()
				}
				return behaviors.Same
			})
		}), number)
		ref := actor.Spawn(s, behaviors.Setup(func(ctx *actor.Context[string]) actor.Behavior[string] {
			ctx.SetReceiveTimeout(time.Second, "3")
			return behaviors.Transform(inner, func(word string) (string, bool) { return word, true })
		}), "it")
		for range 10 {
			p.Expect("inner 1")
		}
		ref.Tell("2")
		p.Expect("inner 2")
		p.ExpectNone(time.Second - 1)
		p.Expect("inner 3")
	})
}

func TestTheContextInsideOfATransformationIsThatOfTheActor(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		say := func(format string, args ...any) { p.Ref().Tell(fmt.Sprintf(format, args...)) }
		report := func(format string, args ...any) task {
			return func(*actor.Context[task]) actor.Behavior[task] {
				say(format, args...)
				return behaviors.Same
			}
		}
		mortal := actor.Spawn(s, repeat(p), "mortal")
		inner := working().OnSignal(func(ctx *actor.Context[task], sig actor.Signal) actor.Behavior[task] {
			say("signal %T, done %t", sig, ctx.Err() != nil)
			return behaviors.Same
		})
		ref := actor.Spawn(s, behaviors.Transform(inner, unpack), "it")
		var self actor.ActorRef[task]
		ref.Tell(doing(func(ctx *actor.Context[task]) {
			self = ctx.Self()
			self.Tell(report("told to itself"))
			actor.Adapt(ctx, func(n int) task { return report("adapted %d", n) }).Tell(7)
			actor.PipeToSelf(ctx, func(context.Context) (int, error) { return 8, nil },
				func(n int, err error) task { return report("piped %d %v", n, err) })
		}))
		expectAll(p, "told to itself", "adapted 7", "piped 8 <nil>")
		ref.Tell(doing(func(ctx *actor.Context[task]) {
			child := actor.Spawn(ctx, repeat(p), "child")
			say("child %s, %d of them", child.Path(), len(ctx.Children()))
			ctx.Watch(child)
			ctx.Stop(child)
		}))
		expectAll(p, "child understudy://test/user/it/child, 1 of them", "actor.PostStop", "signal actor.Terminated, done false")
		ref.Tell(doing(func(ctx *actor.Context[task]) { ctx.Watch(mortal) }))
		mortal.Tell("stop")
		expectAll(p, "stop", "actor.PostStop", "signal actor.Terminated, done false")
		ref.Tell(doing(func(ctx *actor.Context[task]) {
			ctx.SetReceiveTimeout(time.Minute, report("idle"))
		}))
		p.ExpectNone(30 * time.Second)
		ref.Tell(doing(func(ctx *actor.Context[task]) {}))
		p.ExpectNone(time.Minute - 1)
		p.Expect("idle")
		ref.Tell(doing(func(ctx *actor.Context[task]) { ctx.CancelReceiveTimeout() }))
		self.Tell(func(*actor.Context[task]) actor.Behavior[task] { return behaviors.Stopped })
		expectAll(p, "signal actor.PostStop, done true")
		p.ExpectTerminated(ref)
		p.ExpectTerminated(self)
		self.Tell(report("too late"))
		require.EqualValues(t, 1, s.DeadLetters())
	})
}

func TestSupervisionInsideOfATransformationRestartsTheInside(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		say := func(format string, args ...any) { p.Ref().Tell(fmt.Sprintf(format, args...)) }
		inner := behaviors.Supervise(behaviors.Intercept(announcing[task](p, "inner"),
			behaviors.Setup(func(*actor.Context[task]) actor.Behavior[task] {
				say("setup")
				return working().OnSignal(func(_ *actor.Context[task], sig actor.Signal) actor.Behavior[task] {
					say("%T", sig)
					return behaviors.Same
				})
			})), actor.Strategy{Backoff: actor.Backoff{Min: time.Second}})
		outer := &behaviors.Interceptor[parcel]{
			Start: func(_ *actor.Context[parcel], b actor.Behavior[parcel]) actor.Behavior[parcel] {
				say("outer starts")
				return b
			},
			Signal: func(ctx *actor.Context[parcel], sig actor.Signal, inner actor.SignalHandler[parcel]) actor.Behavior[parcel] {
				say("outer sees %T", sig)
				return inner(ctx, sig)
			},
		}
		ref := actor.Spawn(s, behaviors.Intercept(outer, behaviors.Transform(inner, unpack)), "it")
		expectAll(p, "outer starts", "inner starts", "setup")
		var self actor.ActorRef[task]
		ref.Tell(doing(func(ctx *actor.Context[task]) { self = ctx.Self() }))
		_ = p.Receive()
		_ = p.Receive()
		ref.Tell(parcel{func(ctx *actor.Context[task]) actor.Behavior[task] {
			ctx.After("never", 0, func(*actor.Context[task]) actor.Behavior[task] { panic("a timer of the old incarnation") })
			return ctx.Fail(errors.New("boom"))
		}})
		p.Fish(func(what string) testkit.Fishing {
			if what == "outer sees actor.PreRestart" {
				return testkit.Complete
			}
			return testkit.Ignore
		})
		expectAll(p, "inner sees actor.PreRestart", "actor.PreRestart")
		p.ExpectNone(time.Second - 1)
		expectAll(p, "inner starts", "setup")
		self.Tell(func(*actor.Context[task]) actor.Behavior[task] {
			say("the old ref works")
			return behaviors.Same
		})
		_ = p.Receive()
		expectAll(p, "the old ref works")
		_ = p.Receive()
		p.ExpectNone(time.Hour)
	})
}

func TestSupervisionOutsideOfATransformationRestartsIt(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		dead := deadLetters(t, s)
		starts := 0
		inner := behaviors.Setup(func(ctx *actor.Context[task]) actor.Behavior[task] {
			starts++
			if starts == 1 {
				ctx.Every("old", time.Minute, func(*actor.Context[task]) actor.Behavior[task] { panic("old timer") })
				ctx.Watch(actor.Spawn(ctx, repeat(p), "child"))
			}
			return behaviors.WithStash(10, func(stash *actor.Stash[task]) actor.Behavior[task] {
				return behaviors.Receive(func(ctx *actor.Context[task], t task) actor.Behavior[task] {
					if t == nil {
						return stash.UnstashAll(working())
					}
					return stash.Stash(t)
				})
			})
		})
		ref := actor.Spawn(s, behaviors.Supervise(behaviors.Transform(inner, func(p parcel) (task, bool) { return p.content, true }), actor.Strategy{}), "it")
		say := func(word string) parcel { return doing(func(*actor.Context[task]) { p.Ref().Tell(word) }) }
		fail := parcel{func(ctx *actor.Context[task]) actor.Behavior[task] { return ctx.Fail(errors.New("boom")) }}
		tellAll(ref, parcel{}, say("one"), fail, say("two"))
		p.Expect("one")
		p.Expect("actor.PostStop") // of the child
		tellAll(ref, say("three"), parcel{})
		expectAll(p, "two", "three")
		p.ExpectNone(time.Hour)
		dead.ExpectNone(time.Hour)
		synctest.Wait()
		require.Equal(t, 2, starts)
	})
}

func TestTransformationsNest(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		half := func(n int) (float64, bool) { return float64(n) / 2, n > 0 }
		innermost := behaviors.Setup(func(ctx *actor.Context[float64]) actor.Behavior[float64] {
			ctx.After("timer", time.Minute, 0.25)
			return behaviors.Supervise(behaviors.Receive(func(ctx *actor.Context[float64], x float64) actor.Behavior[float64] {
				if x == 6.5 {
					panic("thirteen")
				}
				p.Ref().Tell(fmt.Sprint(x))
				if x == 1 {
					ctx.Self().Tell(0.75)
				}
				return behaviors.Same
			}), actor.Strategy{})
		})
		unhandled := unhandled(t, s)
		ref := actor.Spawn(s, behaviors.Transform(behaviors.Transform(innermost, half), number), "it")
		tellAll(ref, "3", "2")
		expectAll(p, "1.5", "1", "0.75")
		tellAll(ref, "0", "13", "5")
		expectAll(p, "2.5")
		unhandled.Expect(actor.UnhandledMessage{Recipient: ref.Path(), Message: "0"})
		p.ExpectNone(time.Hour) // the restart has cancelled the timer
	})
}

func TestATransformationThatIsInstalledAgainAndAgainIsThereOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		again := &behaviors.Interceptor[string]{}
		inner := behaviors.Receive(func(_ *actor.Context[int], n int) actor.Behavior[int] {
			p.Ref().Tell(n)
			return behaviors.Same
		})
		again.Message = func(ctx *actor.Context[string], word string, handle actor.MessageHandler[string]) actor.Behavior[string] {
			handle(ctx, word)
			return behaviors.Transform(behaviors.Transform(inner, func(n int) (int, bool) { return n, true }), number)
		}
		ref := actor.Spawn(s, behaviors.Intercept(again, behaviors.Transform(inner, number)), "it")
		for n := range many / 10 {
			ref.Tell(strconv.Itoa(n))
		}
		for n := range many / 10 {
			p.Expect(n)
		}
	})
}

func TestABehaviorThatTakesThePlaceOfATransformationEndsItsTimers(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		unhandled := unhandled(t, s)
		var self actor.ActorRef[int]
		inner := behaviors.Setup(func(ctx *actor.Context[int]) actor.Behavior[int] {
			ctx.Every("tick", time.Minute, 1)
			self = ctx.Self()
			return behaviors.Ignore
		})
		leaving := &behaviors.Interceptor[string]{
			Message: func(ctx *actor.Context[string], word string, inner actor.MessageHandler[string]) actor.Behavior[string] {
				if word == "leave" {
					return repeat(p)
				}
				return inner(ctx, word)
			},
		}
		ref := actor.Spawn(s, behaviors.Intercept(leaving, behaviors.Transform(inner, number)), "it")
		tellAll(ref, "1", "leave", "2")
		expectAll(p, "2")
		unhandled.ExpectNone(time.Hour)
		self.Tell(3)
		unhandled.Expect(actor.UnhandledMessage{Recipient: ref.Path(), Message: 3})
	})
}

func TestATransformationThatFailsIsAFailureOfTheActor(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, behaviors.Transform(behaviors.Ignore[int], func(string) (int, bool) { panic("no") }), "it")
		ref.Tell("1")
		p.ExpectTerminated(ref)
		first := actor.Spawn(s, behaviors.Transform(behaviors.Same[int], number), "first")
		p.ExpectTerminated(first)
	})
}

func TestWhatADeliveredMessageDoesInsideOfATransformationIsReported(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[error](t, s)
		boom := errors.New("boom")
		ref := actor.Spawn(s, behaviors.Transform(working(), unpack), "it")
		extension.Deliver(ref, doing(func(*actor.Context[task]) {}), p.Ref().Tell)
		require.NoError(t, p.Receive())
		extension.Deliver(ref, parcel{func(ctx *actor.Context[task]) actor.Behavior[task] { return ctx.Fail(boom) }}, p.Ref().Tell)
		require.ErrorIs(t, p.Receive(), boom)
	})
}

func TestSetupsNestInTransformationsAndMonitors(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		copies := testkit.NewProbe[int](t, s)
		saying := func(word string, b actor.Behavior[int]) actor.Behavior[int] {
			return behaviors.Setup(func(*actor.Context[int]) actor.Behavior[int] {
				p.Ref().Tell(word)
				return b
			})
		}
		innermost := behaviors.Receive(func(_ *actor.Context[int], n int) actor.Behavior[int] {
			p.Ref().Tell(fmt.Sprint(n))
			return behaviors.Same
		})
		ref := actor.Spawn(s, behaviors.Transform(behaviors.Monitor(copies.Ref(), saying("outer", saying("inner", innermost))), number), "it")
		ref.Tell("7")
		expectAll(p, "outer", "inner", "7")
		copies.Expect(7)
	})
}
