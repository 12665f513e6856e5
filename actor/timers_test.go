package actor_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/testkit"
)

func TestAfterTellsOnceAndEveryTellsUntilItIsCancelled(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, obedient(), "clock")
		ref.Tell(do(func(ctx *actor.Context[order]) { ctx.After("once", time.Second, say(p, "once")) }))
		p.ExpectNone(time.Second - 1)
		p.Expect("once")
		p.ExpectNone(time.Hour)
		ref.Tell(do(func(ctx *actor.Context[order]) { ctx.Every("tick", time.Second, say(p, "tick")) }))
		for range 5 {
			p.ExpectNone(time.Second - 1)
			p.Expect("tick")
		}
		ref.Tell(do(func(ctx *actor.Context[order]) { ctx.CancelTimer("tick") }))
		p.ExpectNone(time.Hour)
	})
}

func TestATimerThatIsReplacedOrCancelledNeverTellsEvenIfItsMessageWaits(t *testing.T) {
	type self = *actor.Context[order]
	type set = func(c self, key string, d time.Duration, o order)
	for name, first := range map[string]set{"After": self.After, "Every": self.Every} {
		for event, then := range map[string]func(ctx self, p *testkit.Probe[string]){
			"cancelled":         func(ctx self, _ *testkit.Probe[string]) { ctx.CancelTimer("key") },
			"replaced by After": func(ctx self, p *testkit.Probe[string]) { ctx.After("key", time.Minute, say(p, "new")) },
			"replaced by Every": func(ctx self, p *testkit.Probe[string]) { ctx.Every("key", time.Minute, say(p, "new")) },
		} {
			t.Run(name+" "+event, func(t *testing.T) {
				inBubble(t, func(t *testing.T, s *actor.System) {
					p := testkit.NewProbe[string](t, s)
					actor.Spawn(s, obedient(), "clock").Tell(do(func(ctx self) {
						first(ctx, "key", time.Second, say(p, "old"))
						time.Sleep(2 * time.Second) // it fires, and its message waits
						then(ctx, p)
					}))
					if event == "cancelled" {
						p.ExpectNone(time.Hour)
						return
					}
					p.Within(63*time.Second, func() { p.Expect("new") })
				})
			})
		}
	}
}

func TestTimersOfDifferentKeysDoNotDisturbEachOther(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		actor.Spawn(s, obedient(), "clock").Tell(do(func(ctx *actor.Context[order]) {
			ctx.After("a", 3*time.Second, say(p, "a"))
			ctx.After("b", 2*time.Second, say(p, "b"))
			ctx.After("c", time.Second, say(p, "c"))
			ctx.CancelTimer("b")
			ctx.CancelTimer("nobody's")
		}))
		p.Expect("c")
		p.Expect("a")
		p.ExpectNone(time.Hour)
	})
}

func TestTimersGoOnWhenTheBehaviorChanges(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		var state func(name string) actor.Behavior[string]
		state = func(name string) actor.Behavior[string] {
			return behaviors.Receive(func(_ *actor.Context[string], msg string) actor.Behavior[string] {
				p.Ref().Tell(msg + " in " + name)
				return state("another state")
			})
		}
		actor.Spawn(s, behaviors.Setup(func(ctx *actor.Context[string]) actor.Behavior[string] {
			ctx.Every("tick", time.Second, "tick")
			return state("the first state")
		}), "machine")
		p.Expect("tick in the first state")
		p.Expect("tick in another state")
		p.Expect("tick in another state")
	})
}

func TestATickMayCancelItsTimer(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, obedient(), "clock")
		ref.Tell(do(func(ctx *actor.Context[order]) {
			ctx.Every("tick", time.Second, do(func(ctx *actor.Context[order]) {
				p.Ref().Tell("tick")
				ctx.CancelTimer("tick")
			}))
		}))
		p.Expect("tick")
		p.ExpectNone(time.Hour)
	})
}

func TestATickMayReplaceItsTimer(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[time.Duration](t, s)
		start := time.Now()
		ref := actor.Spawn(s, obedient(), "clock")
		ref.Tell(do(func(ctx *actor.Context[order]) {
			ctx.Every("tick", time.Second, do(func(ctx *actor.Context[order]) {
				p.Ref().Tell(time.Since(start))
				ctx.Every("tick", 2*time.Second, do(func(*actor.Context[order]) { p.Ref().Tell(time.Since(start)) }))
			}))
		}))
		for _, seconds := range []time.Duration{1, 3, 5, 7} {
			p.Expect(seconds * time.Second)
		}
	})
}

func TestTicksNeverPileUp(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[time.Duration](t, s)
		start := time.Now()
		ref := actor.Spawn(s, obedient(), "slow")
		ref.Tell(do(func(ctx *actor.Context[order]) {
			ctx.Every("tick", time.Second, do(func(*actor.Context[order]) {
				p.Ref().Tell(time.Since(start))
				time.Sleep(5 * time.Second)
			}))
		}))
		for _, seconds := range []time.Duration{1, 7, 13, 19} { // one second after the last was handled
			p.Within(time.Minute, func() { p.Expect(seconds * time.Second) })
		}
	})
}

func TestATickThatFailsIsNotTheLastWhenTheActorResumes(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, behaviors.Supervise(obedient(), always(actor.Resume)), "clock")
		ref.Tell(do(func(ctx *actor.Context[order]) {
			ctx.Every("tick", time.Second, do(func(*actor.Context[order]) {
				p.Ref().Tell("tick")
				panic(errBoom)
			}))
		}))
		for range 3 {
			p.Expect("tick")
		}
	})
}

func TestATickThatRestartsOrStopsTheActorIsTheLast(t *testing.T) {
	for name, end := range map[string]order{
		"panics": func(*actor.Context[order]) actor.Behavior[order] { panic(errBoom) },
		"fails":  fail(errBoom),
		"stops":  stop,
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				p := testkit.NewProbe[string](t, s)
				ref := actor.Spawn(s, behaviors.Supervise(obedient(), actor.Strategy{}), "clock")
				ref.Tell(do(func(ctx *actor.Context[order]) {
					ctx.Every("tick", time.Second, func(ctx *actor.Context[order]) actor.Behavior[order] {
						p.Ref().Tell("tick")
						return end(ctx)
					})
				}))
				p.Expect("tick")
				p.ExpectNone(time.Hour)
			})
		})
	}
}

func TestATickIsNotPushedOutOfAFullMailbox(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, obedient(), "clock", actor.Bounded(1).DropOldest())
		ref.Tell(do(func(ctx *actor.Context[order]) {
			ctx.Every("tick", time.Second, say(p, "tick"))
			ctx.SetReceiveTimeout(2*time.Second, say(p, "nothing told"))
			time.Sleep(2500 * time.Millisecond)
			ref.Tell(say(p, "pushed out"))
			ref.Tell(say(p, "message"))
		}))
		p.Expect("tick")
		p.Expect("message")
		p.Expect("tick")
		p.Expect("tick")
	})
}

func TestAnIntervalMustBePositive(t *testing.T) {
	type self = *actor.Context[order]
	for name, set := range map[string]func(self){
		"actor: timer \"key\": interval 0s is not positive":  func(c self) { c.Every("key", 0, nil) },
		"actor: timer \"key\": interval -1s is not positive": func(c self) { c.Every("key", -time.Second, nil) },
		"actor: receive timeout 0s is not positive":          func(c self) { c.SetReceiveTimeout(0, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				require.EqualError(t, failureOfChild(t, s, behaviors.Setup(do(set))), "panic: "+name)
			})
		})
	}
}

func TestATimerInThePastTellsAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		actor.Spawn(s, obedient(), "clock").Tell(do(func(ctx *actor.Context[order]) {
			ctx.After("late", -time.Hour, say(p, "late"))
		}))
		settle()
		p.Within(0, func() { p.Expect("late") })
	})
}

func TestAReceiveTimeoutTellsWheneverNothingWasToldForSoLong(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, obedient(), "bored")
		ref.Tell(do(func(ctx *actor.Context[order]) { ctx.SetReceiveTimeout(50*time.Millisecond, say(p, "bored")) }))
		for range 3 {
			p.ExpectNone(50*time.Millisecond - 1)
			p.Expect("bored")
		}
		for range 10 {
			time.Sleep(49 * time.Millisecond)
			ref.Tell(say(p, "message"))
		}
		for range 10 {
			p.Expect("message")
		}
		p.Expect("bored")
		ref.Tell(do(func(ctx *actor.Context[order]) { ctx.SetReceiveTimeout(time.Minute, say(p, "patient")) }))
		p.ExpectNone(time.Minute - 1)
		p.Expect("patient")
		ref.Tell(do(func(ctx *actor.Context[order]) {
			ctx.CancelReceiveTimeout()
			ctx.CancelReceiveTimeout() // twice is fine
		}))
		p.ExpectNone(time.Hour)
	})
}

func TestMessagesThatWaitBeginAReceiveTimeoutAnew(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, obedient(), "busy")
		ref.Tell(do(func(ctx *actor.Context[order]) {
			ctx.SetReceiveTimeout(time.Second, say(p, "bored"))
			ref.Tell(say(p, "waited"))
			time.Sleep(2 * time.Second) // the timeout fires behind the message
		}))
		p.Expect("waited")
		p.ExpectNone(time.Second - 1)
		p.Expect("bored")
	})
}

func TestAReceiveTimeoutThatIsCancelledNeverTellsEvenIfItsMessageWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		actor.Spawn(s, obedient(), "busy").Tell(do(func(ctx *actor.Context[order]) {
			ctx.SetReceiveTimeout(time.Second, say(p, "bored"))
			time.Sleep(2 * time.Second)
			ctx.CancelReceiveTimeout()
		}))
		p.ExpectNone(time.Hour)
	})
}

func TestTimersBeginAReceiveTimeoutAnewSignalsDoNot(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		target := actor.Spawn(s, obedient(), "target")
		actor.Spawn(s, watcher(p), "watcher").Tell(do(func(ctx *actor.Context[order]) {
			ctx.Watch(target)
			ctx.SetReceiveTimeout(2*time.Second, say(p, "bored"))
			ctx.After("once", time.Second, say(p, "timer"))
		}))
		time.Sleep(1500 * time.Millisecond)
		target.Tell(stop)
		p.Expect("timer")
		p.Expect("watcher Terminated")
		p.ExpectNone(1500*time.Millisecond - 1)
		p.Expect("bored")
	})
}

func TestAFixedRateCatchesUpAFixedDelayDoesNot(t *testing.T) {
	for name, want := range map[string][]time.Duration{
		"fixed rate":  {1 * time.Second, 4500 * time.Millisecond, 4500 * time.Millisecond, 4500 * time.Millisecond, 5 * time.Second},
		"fixed delay": {1 * time.Second, 5500 * time.Millisecond, 6500 * time.Millisecond, 7500 * time.Millisecond, 8500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				p := testkit.NewProbe[time.Duration](t, s)
				started, ticks := time.Now(), 0
				tick := do(func(*actor.Context[order]) {
					p.Ref().Tell(time.Since(started))
					if ticks++; ticks == 1 {
						time.Sleep(3500 * time.Millisecond) // the handler takes its time
					}
				})
				actor.Spawn(s, obedient(), "it").Tell(do(func(ctx *actor.Context[order]) {
					if name == "fixed rate" {
						ctx.AtFixedRate("tick", time.Second, tick)
					} else {
						ctx.Every("tick", time.Second, tick)
					}
				}))
				for _, at := range want {
					p.Within(time.Minute, func() { p.Expect(at) })
				}
			})
		})
	}
}

func TestTimersAreActiveUntilTheyHaveToldOrAreCancelled(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		report := do(func(ctx *actor.Context[order]) {
			p.Ref().Tell(fmt.Sprint(ctx.TimerActive("once"), ctx.TimerActive("again"), ctx.TimerActive("other")))
		})
		ref := actor.Spawn(s, obedient(), "it")
		ref.Tell(do(func(ctx *actor.Context[order]) {
			ctx.After("once", time.Second, report)
			ctx.Every("again", time.Minute, report)
		}))
		ref.Tell(report)
		p.Expect("true true false")
		p.ExpectNone(time.Second - 1)
		p.Expect("false true false")
		p.Within(time.Hour, func() { p.Expect("false true false") })
		ref.Tell(do(func(ctx *actor.Context[order]) { ctx.CancelTimers() }))
		ref.Tell(report)
		p.Expect("false false false")
		p.ExpectNone(time.Hour)
	})
}

// A ping only shows that its sender is alive.
type ping struct{}

func (ping) KeepsReceiveTimeout() {}

func TestAMarkedMessageDoesNotBeginAReceiveTimeoutAnew(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[any](t, s)
		ref := actor.Spawn(s, behaviors.Setup(func(ctx *actor.Context[any]) actor.Behavior[any] {
			ctx.SetReceiveTimeout(time.Minute, "idle")
			return behaviors.Receive(func(_ *actor.Context[any], msg any) actor.Behavior[any] {
				p.Ref().Tell(msg)
				return behaviors.Same
			})
		}), "it")
		p.ExpectNone(30 * time.Second)
		ref.Tell(ping{})
		p.Expect(ping{})
		p.ExpectNone(30*time.Second - 1)
		p.Expect("idle")
		p.ExpectNone(30 * time.Second)
		ref.Tell("news")
		p.Expect("news")
		p.ExpectNone(time.Minute - 1)
		p.Expect("idle")
	})
}

func TestWhatIsToldLaterOutlivesTheTellerUnlessItIsCancelled(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, obedient(), "it")
		ref.Tell(func(*actor.Context[order]) actor.Behavior[order] {
			p.Ref().TellAfter(time.Minute, "later")
			require.True(t, p.Ref().TellAfter(time.Minute, "never")())
			return behaviors.Stopped
		})
		p.ExpectTerminated(ref)
		p.ExpectNone(time.Minute - 1)
		p.Expect("later")
		ref.TellAfter(time.Second, nil)
		p.ExpectNone(time.Hour)
		require.EqualValues(t, 1, s.DeadLetters())
	})
}

// A patient message does not begin a receive timeout anew.
type patient string

func (patient) KeepsReceiveTimeout() {}

func TestAReceiveTimeoutThatDoesNotBeginItselfAnewFiresAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[patient](t, s)
		ref := actor.Spawn(s, behaviors.Setup(func(ctx *actor.Context[patient]) actor.Behavior[patient] {
			ctx.SetReceiveTimeout(time.Minute, "idle")
			return behaviors.Receive(func(ctx *actor.Context[patient], msg patient) actor.Behavior[patient] {
				p.Ref().Tell(msg)
				return behaviors.Same
			})
		}), "it")
		for range 3 {
			p.ExpectNone(time.Minute - 1)
			p.Expect("idle")
		}
		p.ExpectNone(30 * time.Second)
		ref.Tell("patient")
		p.Expect("patient")
		p.ExpectNone(30*time.Second - 1)
		p.Expect("idle")
	})
}
