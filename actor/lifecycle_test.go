package actor_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/testkit"
)

// family is an actor with one child below another, each telling the probe its signals.
func family(p *testkit.Probe[string], names ...string) actor.Behavior[order] {
	return behaviors.Setup(func(ctx *actor.Context[order]) actor.Behavior[order] {
		if len(names) > 1 {
			actor.Spawn(ctx, family(p, names[1:]...), names[1])
		}
		return obedient().OnSignal(telling(p, names[0]))
	})
}

func TestAnActorEndsAfterItsChildrenAndBeforeItsWatchersKnow(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		parent := actor.Spawn(s, family(p, "P", "C", "G"), "P")
		actor.Spawn(s, watching(p, parent), "watcher")
		settle()
		parent.Tell(stop)
		p.Expect("G PostStop")
		p.Expect("C PostStop")
		p.Expect("P PostStop")
		p.Expect("watcher Terminated")
		p.ExpectNone(time.Hour)
	})
}

// watching watches ref and tells its signals.
func watching(p *testkit.Probe[string], ref actor.AnyRef) actor.Behavior[order] {
	return behaviors.Setup(func(ctx *actor.Context[order]) actor.Behavior[order] {
		ctx.Watch(ref)
		return obedient().OnSignal(telling(p, "watcher"))
	})
}

func TestShutdownOfTheSystemGivesPostStopToEveryActor(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		told := make(chan actor.Signal, 10)
		for range 3 {
			actor.Spawn(s, obedient().OnSignal(func(_ *actor.Context[order], sig actor.Signal) actor.Behavior[order] {
				told <- sig
				return behaviors.Same
			}), "")
		}
		require.NoError(t, s.Shutdown(t.Context()))
		require.Len(t, told, 3)
		for range 3 {
			require.Equal(t, actor.PostStop{}, <-told)
		}
	})
}

func TestPostStopGoesToTheCurrentBehavior(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, obedient().OnSignal(telling(p, "first")), "soldier")
		ref.Tell(func(*actor.Context[order]) actor.Behavior[order] {
			return obedient().OnSignal(telling(p, "second"))
		})
		ref.Tell(stop)
		p.Expect("second PostStop")
		p.ExpectNone(time.Hour)
	})
}

func TestAnActorThatStopsInItsSetupHandlesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		dead := deadLetters(t, s)
		ref := actor.Spawn(s, behaviors.Setup(func(ctx *actor.Context[int]) actor.Behavior[int] {
			ctx.Self().Tell(1)
			return behaviors.Stopped
		}), "brief")
		testkit.NewProbe[int](t, s).ExpectTerminated(ref)
		dead.Expect(actor.DeadLetter{Recipient: ref.String(), Message: 1, Reason: actor.ErrTerminated})
	})
}

func TestABehaviorThatNeverStartedGetsNoSignal(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		for _, setup := range []func(*actor.Context[order]) actor.Behavior[order]{
			stop,
			fail(errors.New("boom")),
		} {
			ref := actor.Spawn(s, behaviors.Setup(setup).OnSignal(telling(p, "notStarted")), "")
			p.ExpectTerminated(ref)
		}
		p.ExpectNone(time.Hour)
	})
}

func TestAnActorWhoseSetupFailsStops(t *testing.T) {
	for name, setup := range map[string]func(*actor.Context[order]) actor.Behavior[order]{
		"by a panic":  func(*actor.Context[order]) actor.Behavior[order] { panic("boom") },
		"by an error": fail(errors.New("boom")),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				p := testkit.NewProbe[string](t, s)
				ref := actor.Spawn(s, behaviors.Setup(setup), "broken")
				actor.Spawn(s, watching(p, ref), "watcher")
				p.Expect("watcher Terminated")
			})
		})
	}
}

func TestWhatWasDeferredRunsAfterPostStopTheLastFirstAndOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, obedient().OnSignal(telling(p, "soldier")), "soldier")
		actor.Spawn(s, watching(p, ref), "watcher")
		settle()
		ref.Tell(func(ctx *actor.Context[order]) actor.Behavior[order] {
			ctx.Defer(func() { p.Ref().Tell("first deferred") })
			ctx.Defer(func() {
				p.Ref().Tell("last deferred")
				ctx.Defer(func() { p.Ref().Tell("deferred while it ends") })
			})
			return behaviors.Stopped
		})
		for _, want := range []string{
			"soldier PostStop", "last deferred", "deferred while it ends", "first deferred", "watcher Terminated",
		} {
			p.Expect(want)
		}
		p.ExpectNone(time.Hour)
	})
}

func TestWhatWasDeferredRunsWhenTheStartFails(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		actor.Spawn(s, behaviors.Setup(func(ctx *actor.Context[order]) actor.Behavior[order] {
			ctx.Defer(func() { p.Ref().Tell("deferred") })
			panic("boom")
		}), "")
		p.Expect("deferred")
	})
}

func TestWhatWasDeferredOutsideASupervisedBehaviorOutlivesItsRestarts(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		deferring := func(what string, b actor.Behavior[order]) actor.Behavior[order] {
			return behaviors.Setup(func(ctx *actor.Context[order]) actor.Behavior[order] {
				ctx.Defer(func() { p.Ref().Tell(what) })
				return b
			})
		}
		inner, outer := errors.New("inner"), errors.New("outer")
		ref := actor.Spawn(s, deferring("outside",
			behaviors.Supervise(deferring("between",
				behaviors.Supervise(deferring("inside", obedient()), restartOn(inner))), restartOn(outer))), "onion")
		ref.Tell(fail(inner))
		p.Expect("inside")
		ref.Tell(fail(inner))
		p.Expect("inside")
		ref.Tell(fail(outer))
		p.Expect("inside")
		p.Expect("between")
		p.ExpectNone(time.Hour)
		ref.Tell(stop)
		p.Expect("inside")
		p.Expect("between")
		p.Expect("outside")
		p.ExpectNone(time.Hour)
	})
}

// restartOn restarts on err and leaves the rest to the strategy around.
func restartOn(err error) actor.Strategy {
	return actor.Strategy{Decide: func(failure error) actor.Directive {
		if errors.Is(failure, err) {
			return actor.Restart
		}
		return actor.Escalate
	}}
}

func TestAnActorEndsWhateverItsLastFunctionsDo(t *testing.T) {
	for name, misbehave := range map[string]func(){
		"panic":  func() { panic("boom") },
		"Goexit": runtime.Goexit,
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				p := testkit.NewProbe[string](t, s)
				ref := actor.Spawn(s, obedient().OnSignal(func(_ *actor.Context[order], sig actor.Signal) actor.Behavior[order] {
					p.Ref().Tell("PostStop")
					misbehave()
					return behaviors.Same
				}), "unruly")
				ref.Tell(func(ctx *actor.Context[order]) actor.Behavior[order] {
					ctx.Defer(func() { p.Ref().Tell("other") })
					ctx.Defer(misbehave)
					return behaviors.Stopped
				})
				p.Expect("PostStop")
				p.Expect("other")
				p.ExpectTerminated(ref)
				p.ExpectNone(time.Hour)
			})
		})
	}
}

func TestMessagesThatWaitWhenAnActorStopsAreDeadLettersInOrder(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		dead := deadLetters(t, s)
		told := make(chan struct{})
		ref := actor.Spawn(s, behaviors.Receive(func(*actor.Context[int], int) actor.Behavior[int] {
			<-told
			return behaviors.Stopped
		}), "brief")
		for n := range 4 {
			ref.Tell(n)
		}
		close(told)
		for n := 1; n < 4; n++ {
			dead.Expect(actor.DeadLetter{Recipient: ref.String(), Message: n, Reason: actor.ErrTerminated})
		}
		dead.ExpectNone(time.Hour)
	})
}

func TestAStopComesBeforeMessagesThatWait(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		dead := deadLetters(t, s)
		parent, child := parentOf(t, s, obedient())
		release := make(chan struct{})
		child.Tell(do(func(*actor.Context[order]) { <-release }))
		child.Tell(say(p, "too late"))
		parent.Tell(do(func(ctx *actor.Context[order]) { ctx.Stop(child) }))
		settle()
		close(release)
		p.ExpectTerminated(child)
		dead.Receive()
		p.ExpectNone(time.Hour)
	})
}

// parentOf spawns an obedient actor with b as its child.
func parentOf[M any](t *testing.T, s *actor.System, b actor.Behavior[M]) (parent actor.ActorRef[order], child actor.ActorRef[M]) {
	t.Helper()
	p := testkit.NewProbe[actor.ActorRef[M]](t, s)
	parent = actor.Spawn(s, obedient(), "")
	parent.Tell(do(func(ctx *actor.Context[order]) { p.Ref().Tell(actor.Spawn(ctx, b, "child")) }))
	return parent, p.Receive()
}

func TestADrainedChildHandlesFirstWhatItHasBeenTold(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		dead := deadLetters(t, s)
		parent, child := parentOf(t, s, obedient().OnSignal(telling(p, "child")))
		release := make(chan struct{})
		child.Tell(do(func(*actor.Context[order]) { <-release }))
		child.Tell(say(p, "in time"))
		parent.Tell(do(func(ctx *actor.Context[order]) { ctx.Drain(child) }))
		settle()
		child.Tell(say(p, "too late"))
		close(release)
		p.Expect("in time")
		p.Expect("child PostStop")
		dead.Receive()
		p.ExpectNone(time.Hour)
	})
}

func TestAChildThatRestartsIsDrainedAfterwards(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		parent, child := parentOf(t, s, behaviors.Supervise(life(p), actor.Strategy{Backoff: actor.Backoff{Min: time.Second}}))
		child.Tell(fail(errBoom))
		child.Tell(say(p, "in time"))
		settle()
		parent.Tell(do(func(ctx *actor.Context[order]) { ctx.Drain(child) }))
		for _, want := range []string{"start", "it PreRestart", "start", "in time", "it PostStop"} {
			p.Expect(want)
		}
	})
}

func TestADrainIsNotPushedOutOfAFullMailbox(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		release := make(chan struct{})
		parent := actor.Spawn(s, obedient(), "parent")
		parent.Tell(do(func(ctx *actor.Context[order]) {
			child := actor.Spawn(ctx, obedient().OnSignal(telling(p, "child")), "child",
				actor.Bounded(1).DropOldest())
			child.Tell(do(func(*actor.Context[order]) { <-release }))
			settle()
			ctx.Drain(child)
			child.Tell(say(p, "pushed out"))
			child.Tell(say(p, "too late"))
			close(release)
		}))
		p.Expect("child PostStop")
		p.ExpectNone(time.Hour)
	})
}

func TestStoppingAChildThatHasEndedIsFine(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		parent, child := parentOf(t, s, obedient())
		child.Tell(stop)
		p.ExpectTerminated(child)
		parent.Tell(do(func(ctx *actor.Context[order]) {
			ctx.Stop(child)
			ctx.Drain(child)
		}))
		parent.Tell(say(p, "fine"))
		p.Expect("fine")
	})
}

func TestOnlyChildrenCanBeStopped(t *testing.T) {
	type self = *actor.Context[order]
	victims := map[string]func(ctx self) actor.AnyRef{
		"a top-level actor": func(ctx self) actor.AnyRef { return actor.Spawn(ctx.System(), obedient(), "") },
		"itself":            func(ctx self) actor.AnyRef { return ctx.Self() },
		"the zero ActorRef": func(self) actor.AnyRef { return actor.ActorRef[int]{} },
		"itself, by an adapter": func(ctx self) actor.AnyRef {
			return actor.Adapt(ctx, func(int) order { return stop })
		},
		"a grandchild": func(ctx self) actor.AnyRef {
			grandchild := make(chan actor.AnyRef)
			actor.Spawn(ctx, behaviors.Setup(func(ctx self) actor.Behavior[order] {
				grandchild <- actor.Spawn(ctx, obedient(), "")
				return obedient()
			}), "")
			return <-grandchild
		},
	}
	verbs := map[string]func(self, actor.AnyRef){"stop": self.Stop, "drain": self.Drain}
	for name, victim := range victims {
		for verb, end := range verbs {
			t.Run(verb+" "+name, func(t *testing.T) {
				inBubble(t, func(t *testing.T, s *actor.System) {
					err := failureOfChild(t, s, behaviors.Setup(func(ctx self) actor.Behavior[order] {
						end(ctx, victim(ctx))
						return obedient()
					}))
					require.ErrorContains(t, err, "which is not its child; tell it to stop by a message")
				})
			})
		}
	}
}

func TestAnActorThatEndsTakesNoMoreChildren(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		orphans := make(chan actor.ActorRef[order], 2)
		spawnOrphan := func(ctx *actor.Context[order]) {
			orphans <- actor.Spawn(ctx, behaviors.Setup(func(*actor.Context[order]) actor.Behavior[order] {
				p.Ref().Tell("an orphan runs")
				return obedient()
			}), "")
		}
		ref := actor.Spawn(s, obedient().OnSignal(func(ctx *actor.Context[order], _ actor.Signal) actor.Behavior[order] {
			spawnOrphan(ctx)
			return behaviors.Same
		}), "parent")
		ref.Tell(do(func(ctx *actor.Context[order]) { ctx.Defer(func() { spawnOrphan(ctx) }) }))
		ref.Tell(stop)
		p.ExpectTerminated(ref)
		p.ExpectTerminated(<-orphans)
		p.ExpectTerminated(<-orphans)
		p.ExpectNone(time.Hour)
	})
}

func TestAnActorIsToldToStopWhileItHandlesAMessage(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		parent, child := parentOf(t, s, obedient().OnSignal(telling(p, "child")))
		child.Tell(do(func(ctx *actor.Context[order]) {
			<-ctx.Done()
			p.Ref().Tell(context.Cause(ctx).Error())
		}))
		settle()
		parent.Tell(stop)
		p.Expect("context canceled")
		p.Expect("child PostStop")
	})
}

func TestAnActorMayStopInAnswerToASignal(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		target := actor.Spawn(s, obedient(), "target")
		ref := actor.Spawn(s, behaviors.Setup(func(ctx *actor.Context[order]) actor.Behavior[order] {
			ctx.Watch(target)
			return obedient().OnSignal(func(_ *actor.Context[order], sig actor.Signal) actor.Behavior[order] {
				if _, ended := sig.(actor.Terminated); ended {
					return behaviors.Stopped
				}
				p.Ref().Tell("PostStop")
				return behaviors.Same
			})
		}), "follower")
		target.Tell(stop)
		p.Expect("PostStop")
		p.ExpectTerminated(ref)
	})
}
