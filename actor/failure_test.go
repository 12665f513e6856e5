package actor_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/testkit"
)

var (
	errBoom  = errors.New("boom")
	errOther = errors.New("other")
)

// always decides the same about every failure.
func always(d actor.Directive) actor.Strategy {
	return actor.Strategy{Decide: func(error) actor.Directive { return d }}
}

// life tells the probe when an incarnation starts, and its signals.
func life(p *testkit.Probe[string]) actor.Behavior[order] {
	return behaviors.Setup(func(*actor.Context[order]) actor.Behavior[order] {
		p.Ref().Tell("start")
		return obedient().OnSignal(telling(p, "it"))
	})
}

// Case 40.
func TestAnActorWithoutSupervisionStopsWhenItFails(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		letters := deadLetters(t, s)
		ref := actor.Spawn(s, life(p), "brittle")
		ref.Tell(fail(errBoom))
		p.Expect("start")
		p.Expect("it PostStop")
		p.ExpectTerminated(ref)
		ref.Tell(say(p, "too late"))
		require.ErrorIs(t, letters.Receive().Reason, actor.ErrTerminated)
		p.ExpectNone(time.Hour)
	})
}

// Case 41.
func TestARestartBeginsAgainWithTheFirstBehaviorUnderTheSameRef(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		var state func(n int) actor.Behavior[order]
		state = func(n int) actor.Behavior[order] {
			return behaviors.Receive(func(ctx *actor.Context[order], o order) actor.Behavior[order] {
				if o != nil {
					return o(ctx)
				}
				return state(n + 1)
			}).OnSignal(func(_ *actor.Context[order], sig actor.Signal) actor.Behavior[order] {
				p.Ref().Tell(fmt.Sprintf("%v in state %d", sig, n))
				return behaviors.Same
			})
		}
		failures := 0
		ref := actor.Spawn(s, behaviors.Supervise(state(0), actor.Strategy{}), "counter")
		for range 3 {
			ref.Tell(nil)
		}
		ref.Tell(func(ctx *actor.Context[order]) actor.Behavior[order] {
			failures++
			return ctx.Fail(errBoom)
		})
		ref.Tell(nil)
		ref.Tell(do(func(ctx *actor.Context[order]) { p.Ref().Tell(fmt.Sprint(ctx.Self() == ref)) }))
		ref.Tell(stop)
		p.Expect("{boom} in state 3")
		p.Expect("true")
		p.Expect("{} in state 1")
		require.Equal(t, 1, failures, "the message that failed is gone")
	})
}

func TestAResumedActorKeepsItsStateAndItsTimers(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, behaviors.Supervise(life(p), always(actor.Resume)), "tough")
		ref.Tell(func(ctx *actor.Context[order]) actor.Behavior[order] {
			ctx.After("later", time.Minute, say(p, "later"))
			return obedient().OnSignal(telling(p, "second"))
		})
		ref.Tell(fail(errBoom))
		ref.Tell(say(p, "next"))
		p.Expect("start")
		p.Expect("next")
		p.ExpectNone(59 * time.Second)
		p.Expect("later")
		ref.Tell(stop)
		p.Expect("second PostStop")
	})
}

// Case 43.
func TestAFailedStartIsRetriedOnlyUnderALimitOrABackoff(t *testing.T) {
	for _, test := range []struct {
		name     string
		strategy actor.Strategy
		starts   int
	}{
		{"restart without limit", actor.Strategy{}, 1},
		{"resume", always(actor.Resume), 1},
		{"stop", always(actor.Stop), 1},
		{"escalate", always(actor.Escalate), 1},
		{"a limit of 2", actor.Strategy{Limit: 2}, 3},
		{"a limit of 2 in a window", actor.Strategy{Limit: 2, Window: time.Minute}, 3},
		{"a backoff and a limit of 4", actor.Strategy{Limit: 4, Backoff: actor.Backoff{Min: time.Millisecond}}, 5},
	} {
		t.Run(test.name, func(t *testing.T) {
			for name, failing := range map[string]func(*actor.Context[order]) actor.Behavior[order]{
				"panic": func(*actor.Context[order]) actor.Behavior[order] { panic(errBoom) },
				"error": fail(errBoom),
			} {
				t.Run(name, func(t *testing.T) {
					inBubble(t, func(t *testing.T, s *actor.System) {
						starts := 0
						err := failureOfChild(t, s, behaviors.Supervise(behaviors.Setup(
							func(ctx *actor.Context[order]) actor.Behavior[order] {
								starts++
								return failing(ctx)
							}), test.strategy))
						require.ErrorIs(t, err, errBoom)
						require.Equal(t, test.starts, starts)
					})
				})
			}
		})
	}
}

func TestAStartThatSucceedsAtLastHandlesWhatWaited(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		starts := 0
		ref := actor.Spawn(s, behaviors.Supervise(behaviors.Setup(
			func(ctx *actor.Context[order]) actor.Behavior[order] {
				if starts++; starts < 3 {
					return ctx.Fail(errBoom)
				}
				return obedient()
			}), actor.Strategy{Backoff: actor.Backoff{Min: time.Second}}), "slow-starter")
		ref.Tell(say(p, "one"))
		ref.Tell(say(p, "two"))
		p.ExpectNone(2*time.Second - 1)
		p.Expect("one")
		p.Expect("two")
	})
}

func TestARestartThatFailsToStartIsAFailureOfItsOwn(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		starts := 0
		ref := actor.Spawn(s, behaviors.Supervise(behaviors.Setup(
			func(*actor.Context[order]) actor.Behavior[order] {
				if starts++; starts == 2 {
					panic(errBoom)
				}
				return obedient()
			}), actor.Strategy{}), "broken-in-the-end")
		ref.Tell(fail(errOther))
		p.ExpectTerminated(ref)
		require.Equal(t, 2, starts)
	})
}

// Case 44.
func TestALimitCountsRestartsWithinItsWindow(t *testing.T) {
	for name, test := range map[string]struct {
		pause time.Duration
		alive bool
	}{
		"quick failures":                 {time.Second, false},
		"failures that the window parts": {6 * time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				p := testkit.NewProbe[string](t, s)
				ref := actor.Spawn(s, behaviors.Supervise(obedient(),
					actor.Strategy{Limit: 2, Window: 10 * time.Second}), "limited")
				for range 3 {
					ref.Tell(fail(errBoom))
					ref.Tell(say(p, "alive"))
					time.Sleep(test.pause)
				}
				p.Expect("alive")
				p.Expect("alive")
				if test.alive {
					p.Expect("alive")
				} else {
					p.ExpectTerminated(ref)
					p.ExpectNone(0)
				}
			})
		})
	}
}

func TestALimitWithoutAWindowCountsForEver(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, behaviors.Supervise(obedient(), actor.Strategy{Limit: 1}), "limited")
		ref.Tell(fail(errBoom))
		time.Sleep(1000 * time.Hour)
		ref.Tell(say(p, "alive"))
		p.Expect("alive")
		ref.Tell(fail(errBoom))
		p.ExpectTerminated(ref)
	})
}

// Case 46.
func TestNestedStrategiesAreAskedFromTheInsideOut(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		resume := actor.Strategy{Decide: func(err error) actor.Directive {
			if errors.Is(err, errBoom) {
				return actor.Resume
			}
			return actor.Escalate
		}}
		restart := actor.Strategy{Decide: func(err error) actor.Directive {
			if errors.Is(err, errOther) {
				return actor.Restart
			}
			return actor.Stop
		}}
		ref := actor.Spawn(s, behaviors.Supervise(behaviors.Supervise(life(p), resume), restart), "nested")
		p.Expect("start")
		ref.Tell(fail(errBoom))
		p.ExpectNone(time.Hour)
		ref.Tell(fail(errOther))
		p.Expect("it PreRestart")
		p.Expect("start")
		ref.Tell(fail(errBoom))
		p.ExpectNone(time.Hour)
		ref.Tell(fail(errors.New("unrelated")))
		p.Expect("it PostStop")
	})
}

// Case 47.
func TestARestartWaitsForTheChildrenThatItStops(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		release := make(chan struct{})
		slow := obedient().OnSignal(func(*actor.Context[order], actor.Signal) actor.Behavior[order] {
			<-release
			p.Ref().Tell("child PostStop")
			return behaviors.Same
		})
		ref := actor.Spawn(s, behaviors.Supervise(behaviors.Setup(
			func(ctx *actor.Context[order]) actor.Behavior[order] {
				p.Ref().Tell("start")
				actor.Spawn(ctx, slow, "child")
				return obedient().OnSignal(telling(p, "parent"))
			}), actor.Strategy{Backoff: actor.Backoff{Min: time.Second}}), "parent")
		p.Expect("start")
		ref.Tell(fail(errBoom))
		ref.Tell(say(p, "first"))
		settle()
		ref.Tell(say(p, "second"))
		p.Expect("parent PreRestart")
		p.ExpectNone(time.Hour)
		close(release)
		p.Expect("child PostStop")
		p.ExpectNone(time.Second - 1)
		p.Expect("start")
		p.Expect("first")
		p.Expect("second")
	})
}

func TestARestartCancelsTimersBeforeItSignals(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, behaviors.Supervise(obedient().OnSignal(
			func(ctx *actor.Context[order], _ actor.Signal) actor.Behavior[order] {
				time.Sleep(time.Minute) // the timer would fire now
				ctx.After("new", time.Second, say(p, "set while it ends"))
				ctx.Every("newer", time.Second, say(p, "set while it ends"))
				ctx.SetReceiveTimeout(time.Second, say(p, "set while it ends"))
				ctx.Defer(func() { ctx.After("last", time.Second, say(p, "set while it ends")) })
				return behaviors.Same
			}), actor.Strategy{}), "soldier")
		ref.Tell(do(func(ctx *actor.Context[order]) {
			ctx.After("once", time.Second, say(p, "of the old incarnation"))
			ctx.Every("again", time.Second, say(p, "of the old incarnation"))
			ctx.SetReceiveTimeout(time.Second, say(p, "of the old incarnation"))
		}))
		ref.Tell(fail(errBoom))
		ref.Tell(say(p, "alive"))
		time.Sleep(2 * time.Minute)
		p.Expect("alive")
		p.ExpectNone(time.Hour)
		ref.Tell(stop)
		p.Within(2*time.Minute, func() { p.ExpectTerminated(ref) })
		p.ExpectNone(time.Hour)
	})
}

func TestChildrenMayBeKeptDuringARestart(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		parent := actor.Spawn(s, behaviors.Supervise(obedient(), actor.Strategy{KeepChildren: true}), "parent")
		listChildren := do(func(ctx *actor.Context[order]) { p.Ref().Tell(fmt.Sprint(ctx.Children())) })
		parent.Tell(do(func(ctx *actor.Context[order]) {
			actor.Spawn(ctx, obedient().OnSignal(telling(p, "child")), "child")
		}))
		parent.Tell(listChildren)
		parent.Tell(fail(errBoom))
		parent.Tell(listChildren)
		p.Expect(p.Receive())
		parent.Tell(stop)
		p.Expect("child PostStop")
	})
}

func TestAChildThatPreRestartSpawnsIsStoppedWithTheOthers(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, behaviors.Supervise(obedient().OnSignal(
			func(ctx *actor.Context[order], _ actor.Signal) actor.Behavior[order] {
				actor.Spawn(ctx, obedient().OnSignal(telling(p, "late child")), "")
				return behaviors.Same
			}), actor.Strategy{}), "parent")
		ref.Tell(fail(errBoom))
		ref.Tell(do(func(ctx *actor.Context[order]) { p.Ref().Tell(fmt.Sprint(len(ctx.Children()), " children")) }))
		p.Expect("late child PostStop")
		p.Expect("0 children")
	})
}

// Case 50.
func TestABackoffDoublesUpToItsMaximumAndBeginsAgainAfterGoodTimes(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		b := actor.Backoff{Min: 100 * time.Millisecond, Max: time.Second}
		ref := actor.Spawn(s, behaviors.Supervise(life(p), actor.Strategy{Backoff: b}), "patient")
		p.Expect("start")
		expectDelay := func(d time.Duration) {
			t.Helper()
			ref.Tell(fail(errBoom))
			p.Expect("it PreRestart")
			p.ExpectNone(d - 1)
			p.Expect("start")
		}
		for _, ms := range []time.Duration{100, 200, 400, 800, 1000, 1000} {
			expectDelay(ms * time.Millisecond)
		}
		time.Sleep(b.ResetAfter() - 2)
		expectDelay(time.Second)
		time.Sleep(b.ResetAfter())
		expectDelay(100 * time.Millisecond)
		expectDelay(200 * time.Millisecond)
	})
}

func TestASetupThatTakesLongAndFailsIsNoGoodTime(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, behaviors.Supervise(behaviors.Setup(func(ctx *actor.Context[order]) actor.Behavior[order] {
			p.Ref().Tell("start")
			time.Sleep(time.Minute)
			return ctx.Fail(errBoom)
		}), actor.Strategy{Limit: 2, Backoff: actor.Backoff{Min: time.Second, Max: time.Hour}}), "slow")
		p.Expect("start")
		for _, delay := range []time.Duration{time.Second, 2 * time.Second} {
			p.ExpectNone(time.Minute + delay - 1)
			p.Expect("start")
		}
		p.Within(2*time.Minute, func() { p.ExpectTerminated(ref) })
	})
}

func TestASetupThatTakesLongDoesNotCountAsGoodTimes(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, behaviors.Supervise(behaviors.Setup(func(*actor.Context[order]) actor.Behavior[order] {
			time.Sleep(time.Minute)
			p.Ref().Tell("started")
			return obedient()
		}), actor.Strategy{Backoff: actor.Backoff{Min: time.Second, Max: 4 * time.Second}}), "slow")
		p.Within(2*time.Minute, func() { p.Expect("started") })
		for _, delay := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
			ref.Tell(fail(errBoom))
			p.ExpectNone(time.Minute + delay - 1)
			p.Expect("started")
		}
	})
}

func TestTheResetOfABackoffCanBeSet(t *testing.T) {
	require.Equal(t, time.Minute, actor.Backoff{Min: time.Second, Reset: time.Minute}.ResetAfter())
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		p.ExpectTerminated(actor.Spawn(s, behaviors.Supervise(obedient(), actor.Strategy{Backoff: actor.Backoff{Reset: -1}}), ""))
	})
}

// Case 52.
func TestALimitHoldsUnderABackoffToo(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, behaviors.Supervise(life(p),
			actor.Strategy{Limit: 2, Backoff: actor.Backoff{Min: time.Second}}), "limited")
		for range 3 {
			ref.Tell(fail(errBoom))
		}
		for _, want := range []string{"start", "it PreRestart", "start", "it PreRestart", "start", "it PostStop"} {
			p.Expect(want)
		}
		p.ExpectTerminated(ref)
		p.ExpectNone(time.Hour)
	})
}

func TestTheResetOfABackoffForgivesALimitWithoutWindow(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		strategy := actor.Strategy{Limit: 2, Backoff: actor.Backoff{Min: time.Second}}
		ref := actor.Spawn(s, behaviors.Supervise(obedient(), strategy), "limited")
		for range 10 {
			ref.Tell(fail(errBoom))
			time.Sleep(3 * time.Second)
		}
		ref.Tell(say(p, "alive"))
		p.Expect("alive")
	})
}

func TestAnActorThatIsStoppedDuringABackoffEndsAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		letters := deadLetters(t, s)
		parent, child := parentOf(t, s, behaviors.Supervise(life(p), actor.Strategy{Backoff: actor.Backoff{Min: time.Hour}}))
		child.Tell(fail(errBoom))
		child.Tell(say(p, "never"))
		p.Expect("start")
		p.Expect("it PreRestart")
		settle()
		parent.Tell(do(func(ctx *actor.Context[order]) { ctx.Stop(child) }))
		p.ExpectTerminated(child)
		letters.Receive()
		p.ExpectNone(2 * time.Hour)
	})
}

func TestOnlySoManyMessagesWaitForARestart(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		letters := deadLetters(t, s)
		ref := actor.Spawn(s, behaviors.Supervise(obedient(),
			actor.Strategy{Backoff: actor.Backoff{Min: time.Second}, StashCapacity: 3}), "small")
		ref.Tell(func(ctx *actor.Context[order]) actor.Behavior[order] {
			actor.PipeToSelf(ctx, func(context.Context) (string, error) {
				time.Sleep(time.Millisecond)
				return "piped", nil
			}, func(what string, _ error) order { return say(p, what) })
			return ctx.Fail(errBoom)
		})
		ref.Tell(say(p, "waited from the beginning"))
		settle()
		for _, what := range []string{"second", "third", "too many"} {
			ref.Tell(say(p, what))
		}
		require.ErrorIs(t, letters.Receive().Reason, actor.ErrStashFull)
		for _, want := range []string{"waited from the beginning", "second", "third", "piped"} {
			p.Expect(want)
		}
		for range 10 {
			ref.Tell(say(p, "room enough"))
		}
		for range 10 {
			p.Expect("room enough")
		}
		letters.ExpectNone(time.Hour)
	})
}

// Case 56.
func TestADeciderChoosesByTheError(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		strategy := actor.Strategy{Limit: 1, Decide: func(err error) actor.Directive {
			var panicked *actor.PanicError
			switch {
			case errors.As(err, &panicked):
				return actor.Resume
			case errors.Is(err, errBoom):
				return actor.Restart
			}
			return actor.Stop
		}}
		a := actor.Spawn(s, behaviors.Supervise(life(p), strategy), "a")
		p.Expect("start")
		b := actor.Spawn(s, behaviors.Supervise(life(p), strategy), "b")
		p.Expect("start")
		for _, ref := range []actor.ActorRef[order]{a, b} { // each counts for itself
			ref.Tell(func(*actor.Context[order]) actor.Behavior[order] { panic(errOther) })
			ref.Tell(fail(errBoom))
			p.Expect("it PreRestart")
			p.Expect("start")
		}
		a.Tell(fail(errOther))
		p.Expect("it PostStop")
	})
}

func TestADeciderThatFailsStopsTheActor(t *testing.T) {
	for name, decide := range map[string]func(error) actor.Directive{
		"by a panic":             func(error) actor.Directive { panic("no idea") },
		"by ending":              func(error) actor.Directive { runtime.Goexit(); return actor.Resume },
		"by an unknown decision": func(error) actor.Directive { return -1 },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				p := testkit.NewProbe[string](t, s)
				ref := actor.Spawn(s, behaviors.Supervise(life(p), actor.Strategy{Decide: decide}), "undecided")
				ref.Tell(fail(errBoom))
				p.Expect("start")
				p.Expect("it PostStop")
				p.ExpectTerminated(ref)
			})
		})
	}
}

// Case 58.
func TestAFailureIsLoggedWithThePathOfItsActor(t *testing.T) {
	for _, test := range []struct {
		name     string
		strategy actor.Strategy
		level    zapcore.Level
		message  string
	}{
		{"restart", actor.Strategy{}, zap.WarnLevel, "actor failed; restarting"},
		{"resume", always(actor.Resume), zap.WarnLevel, "actor failed; resuming"},
		{"stop", always(actor.Stop), zap.ErrorLevel, "actor failed; stopping"},
		{"escalate", always(actor.Escalate), zap.ErrorLevel, "actor failed; stopping"},
	} {
		t.Run(test.name, func(t *testing.T) {
			logs, entries := observer.New(zap.DebugLevel)
			inBubbleWith(t, func(_ *testing.T, s *actor.System) {
				ref := actor.Spawn(s, behaviors.Supervise(obedient(), test.strategy), "unlucky")
				ref.Tell(fail(errBoom))
				settle()
			}, actor.WithLogger(zap.New(logs)))
			entry := entries.FilterMessage(test.message).All()[0]
			require.Equal(t, test.level, entry.Level)
			require.Equal(t, "/user/unlucky", entry.ContextMap()["actor"])
			require.Equal(t, "boom", entry.ContextMap()["error"])
		})
	}
}

// Case 59.
func TestAHandlerThatEndsItsGoroutineEndsItsActor(t *testing.T) {
	goexit := do(func(*actor.Context[order]) { runtime.Goexit() })
	for name, b := range map[string]func(p *testkit.Probe[string]) actor.Behavior[order]{
		"in a handler": func(p *testkit.Probe[string]) actor.Behavior[order] {
			return behaviors.Setup(func(ctx *actor.Context[order]) actor.Behavior[order] {
				ctx.Self().Tell(goexit)
				return life(p)
			})
		},
		"in its setup": func(*testkit.Probe[string]) actor.Behavior[order] { return behaviors.Setup(goexit) },
		"while others wait": func(p *testkit.Probe[string]) actor.Behavior[order] {
			return behaviors.Setup(func(ctx *actor.Context[order]) actor.Behavior[order] {
				ctx.Self().Tell(goexit)
				ctx.Self().Tell(say(p, "never"))
				return life(p)
			})
		},
	} {
		for _, strategy := range []actor.Strategy{{Limit: 5}, always(actor.Resume), always(actor.Escalate)} {
			t.Run(name, func(t *testing.T) {
				inBubble(t, func(t *testing.T, s *actor.System) {
					p := testkit.NewProbe[string](t, s)
					err := failureOfChild(t, s, behaviors.Supervise(b(p), strategy))
					require.ErrorContains(t, err, "runtime.Goexit")
					if name != "in its setup" {
						p.Expect("start")
						p.Expect("it PostStop")
					}
					p.ExpectNone(time.Hour)
				})
			})
		}
	}
}

func TestAFailureEscalatesToTheParent(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		strategy := actor.Strategy{Decide: func(err error) actor.Directive {
			if errors.Is(err, actor.ErrEscalated) && errors.Is(err, errBoom) {
				p.Ref().Tell(err.Error())
			}
			return actor.Restart
		}}
		var child actor.ActorRef[order]
		actor.Spawn(s, behaviors.Supervise(behaviors.Setup(func(ctx *actor.Context[order]) actor.Behavior[order] {
			child = actor.Spawn(ctx, behaviors.Supervise(obedient(), always(actor.Escalate)), "child")
			p.Ref().Tell("start")
			return obedient().OnSignal(telling(p, "parent"))
		}), strategy), "parent")
		p.Expect("start")
		child.Tell(fail(errBoom))
		p.Expect("actor: escalated by understudy://test/user/parent/child: boom")
		p.Expect("parent PreRestart")
		p.Expect("start")
	})
}

func TestAFailureThatEscalatesBeyondTheTopEndsItsActorsOnly(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, behaviors.Supervise(obedient(), always(actor.Escalate)), "top")
		bystander := actor.Spawn(s, obedient(), "bystander")
		ref.Tell(fail(errBoom))
		p.ExpectTerminated(ref)
		bystander.Tell(say(p, "alive"))
		p.Expect("alive")
	})
}

func TestChildrenThatEscalateTogetherRestartTheirParentOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		starts := 0
		actor.Spawn(s, behaviors.Supervise(behaviors.Setup(func(ctx *actor.Context[order]) actor.Behavior[order] {
			p.Ref().Tell("start")
			if starts++; starts > 1 {
				return obedient()
			}
			release := make(chan struct{})
			for range 5 {
				child := actor.Spawn(ctx, behaviors.Supervise(obedient(), always(actor.Escalate)), "")
				child.Tell(do(func(*actor.Context[order]) { <-release; panic(errBoom) }))
			}
			close(release)
			return obedient().OnSignal(telling(p, "parent"))
		}), actor.Strategy{Limit: 1, Backoff: actor.Backoff{Min: time.Second}}), "parent")
		p.Expect("start")
		p.Expect("parent PreRestart")
		p.Expect("start")
		p.ExpectNone(time.Hour)
	})
}

func TestSupervisionThatAHandlerReturnsTakesThePlaceOfItsPredecessor(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		supervised := func(who string) order {
			return func(*actor.Context[order]) actor.Behavior[order] {
				return behaviors.Supervise(behaviors.Setup(func(*actor.Context[order]) actor.Behavior[order] {
					p.Ref().Tell("start of " + who)
					return obedient()
				}), actor.Strategy{Limit: 1})
			}
		}
		ref := actor.Spawn(s, behaviors.Supervise(life(p), actor.Strategy{Limit: 1}), "machine")
		ref.Tell(supervised("a"))
		ref.Tell(supervised("b"))
		ref.Tell(fail(errBoom))
		for _, want := range []string{"start", "start of a", "start of b", "start of b"} {
			p.Expect(want)
		}
		ref.Tell(fail(errBoom)) // the limit of b; a and the first behavior are not asked
		p.ExpectTerminated(ref)
		p.ExpectNone(time.Hour)
	})
}

func TestSupervisionStaysWhenTheBehaviorChanges(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, behaviors.Supervise(life(p), actor.Strategy{}), "machine")
		ref.Tell(func(*actor.Context[order]) actor.Behavior[order] {
			return obedient().OnSignal(telling(p, "second"))
		})
		ref.Tell(fail(errBoom))
		p.Expect("start")
		p.Expect("second PreRestart")
		p.Expect("start")
	})
}

func TestATransitionThatFailsIsAFailureOfTheBehaviorBefore(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, behaviors.Supervise(life(p), actor.Strategy{}), "machine")
		ref.Tell(func(*actor.Context[order]) actor.Behavior[order] {
			return behaviors.Setup(func(*actor.Context[order]) actor.Behavior[order] { panic(errBoom) })
		})
		p.Expect("start")
		p.Expect("it PreRestart")
		p.Expect("start")
	})
}

func TestAFailureInASignalHandlerIsSupervised(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		target := actor.Spawn(s, obedient(), "target")
		target.Tell(stop)
		p.ExpectTerminated(target)
		starts := 0
		actor.Spawn(s, behaviors.Supervise(behaviors.Setup(func(ctx *actor.Context[order]) actor.Behavior[order] {
			p.Ref().Tell("start")
			if starts++; starts == 1 {
				ctx.Watch(target)
			}
			return obedient().OnSignal(func(_ *actor.Context[order], sig actor.Signal) actor.Behavior[order] {
				if _, ended := sig.(actor.Terminated); ended {
					panic(errBoom)
				}
				return behaviors.Same
			})
		}), actor.Strategy{}), "follower")
		p.Expect("start")
		p.Expect("start")
		p.ExpectNone(time.Hour)
	})
}

func TestAPanicInPreRestartDoesNotHinderTheRestart(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, behaviors.Supervise(behaviors.Setup(func(*actor.Context[order]) actor.Behavior[order] {
			p.Ref().Tell("start")
			return obedient().OnSignal(func(*actor.Context[order], actor.Signal) actor.Behavior[order] { panic("again") })
		}), actor.Strategy{}), "unlucky")
		ref.Tell(fail(errBoom))
		p.Expect("start")
		p.Expect("start")
	})
}

// finalError is a failure that no strategy decides about.
type finalError struct{}

func (finalError) Error() string { return "final" }
func (finalError) Final() bool   { return true }

func TestAFinalFailureStopsTheActorWhateverTheStrategySays(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		failing := behaviors.Receive(func(ctx *actor.Context[string], _ string) actor.Behavior[string] {
			return ctx.Fail(fmt.Errorf("wrapped: %w", finalError{}))
		})
		ref := actor.Spawn(s, behaviors.Supervise(failing, actor.Strategy{}), "failing")
		ref.Tell("fail")
		p.ExpectTerminated(ref)
	})
}

func TestWhatIsFinalForAChildIsNotSoForItsParent(t *testing.T) {
	for name, o := range map[string]order{
		"a final failure":          fail(finalError{}),
		"the end of its goroutine": do(func(*actor.Context[order]) { runtime.Goexit() }),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				p := testkit.NewProbe[string](t, s)
				actor.Spawn(s, behaviors.Supervise(behaviors.Setup(func(ctx *actor.Context[order]) actor.Behavior[order] {
					p.Ref().Tell("start")
					child := actor.Spawn(ctx, obedient(), "")
					ctx.Watch(child)
					child.Tell(o)
					return obedient() // so it fails with its child
				}), actor.Strategy{Limit: 2}), "parent")
				for range 3 {
					p.Expect("start")
				}
				p.ExpectNone(time.Hour)
			})
		})
	}
}

// Case 58.
func TestAStrategyChoosesTheLevelAtWhichItsFailuresAreLogged(t *testing.T) {
	core, logs := observer.New(zap.DebugLevel)
	critical := func(_ error, inARow int) zapcore.Level {
		switch {
		case inARow >= 5:
			return zapcore.PanicLevel // which counts as Error
		case inARow >= 3:
			return zapcore.InfoLevel
		}
		return zapcore.InvalidLevel
	}
	inBubbleWith(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, behaviors.Supervise(obedient(), actor.Strategy{
			Limit: 4, Backoff: actor.Backoff{Min: time.Second, Max: time.Second}, LogLevel: critical,
		}), "it")
		ref.Tell(fail(errBoom))
		p.ExpectNone(time.Minute) // things go well: the count begins anew
		for range 5 {
			ref.Tell(fail(errBoom))
		}
		p.Within(time.Minute, func() { p.ExpectTerminated(ref) })
		var lines []string
		for _, e := range logs.TakeAll() {
			lines = append(lines, e.Level.String()+" "+e.Message)
		}
		require.Equal(t, []string{
			"info actor failed; restarting", "info actor failed; restarting", "error actor failed; restart limit reached, stopping",
		}, lines)
	}, actor.WithLogger(zap.New(core)))
}

// Case 49.
func TestARestartRevokesTheWatchesOfTheChildrenThatItStops(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		starts := 0
		b := behaviors.Supervise(behaviors.Setup(func(ctx *actor.Context[order]) actor.Behavior[order] {
			if starts++; starts == 1 {
				ctx.WatchWith(actor.Spawn(ctx, obedient(), "with"), say(p, "the message of an old watch"))
				ctx.Watch(actor.Spawn(ctx, obedient(), "child"))
			}
			return obedient().OnSignal(telling(p, "it"))
		}), actor.Strategy{Backoff: actor.Backoff{Min: time.Second}})
		ref := actor.Spawn(s, b, "it")
		ref.Tell(fail(errBoom))
		p.Expect("it PreRestart")
		ref.Tell(say(p, "restarted"))
		p.Expect("restarted")
		p.ExpectNone(time.Hour)
	})
}

// Case 56.
func TestEachChildHasCountersOfItsOwn(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		strategy := actor.Strategy{Limit: 1, Decide: func(err error) actor.Directive {
			if errors.Is(err, errOther) {
				return actor.Stop
			}
			return actor.Restart
		}}
		b := behaviors.Supervise(obedient(), strategy)
		one, two, three := actor.Spawn(s, b, "one"), actor.Spawn(s, b, "two"), actor.Spawn(s, b, "three")
		for _, ref := range []actor.ActorRef[order]{one, two} {
			ref.Tell(fail(errBoom))
			ref.Tell(say(p, "lives"))
			p.Expect("lives")
		}
		one.Tell(fail(errBoom))
		p.ExpectTerminated(one)
		three.Tell(fail(errOther))
		p.ExpectTerminated(three)
		two.Tell(say(p, "still lives"))
		p.Expect("still lives")
	})
}
