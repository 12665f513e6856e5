package actor_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/testkit"
)

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

func TestOnlySoManyMessagesWaitForARestart(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		dead := deadLetters(t, s)
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
		require.ErrorIs(t, dead.Receive().Reason, actor.ErrStashFull)
		for _, want := range []string{"waited from the beginning", "second", "third", "piped"} {
			p.Expect(want)
		}
		for range 10 {
			ref.Tell(say(p, "room enough"))
		}
		for range 10 {
			p.Expect("room enough")
		}
		dead.ExpectNone(time.Hour)
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
