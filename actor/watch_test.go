package actor_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/testkit"
)

// watcher is an obedient actor that tells the probe its signals.
func watcher(p *testkit.Probe[string]) actor.Behavior[order] {
	return obedient().OnSignal(telling(p, "watcher"))
}

// watch is an order to watch ref.
func watch(ref actor.AnyRef) order { return do(func(ctx *actor.Context[order]) { ctx.Watch(ref) }) }

// ended returns the ref of an actor that has ended.
func ended(t *testing.T, s *actor.System) actor.ActorRef[order] {
	t.Helper()
	ref := actor.Spawn(s, behaviors.Setup(stop), "")
	testkit.NewProbe[int](t, s).ExpectTerminated(ref)
	return ref
}

func TestWatchingAnActorThatHasEndedYieldsItsEnd(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, watcher(p), "")
		for _, target := range []actor.AnyRef{
			ended(t, s),
			actor.Resolve[int](s, "understudy://test/user/nobody"),
			actor.Resolve[int](s, "malformed"),
		} {
			ref.Tell(watch(target))
			p.Expect("watcher Terminated")
		}
		p.ExpectNone(time.Hour)
	})
}

func TestTerminatedCarriesTheRefThatWasWatchedAfterAllThatItTold(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[any](t, s)
		target := actor.Spawn(s, obedient().OnSignal(func(_ *actor.Context[order], sig actor.Signal) actor.Behavior[order] {
			p.Ref().Tell(sig)
			return behaviors.Same
		}), "target")
		actor.Spawn(s, behaviors.Setup(func(ctx *actor.Context[any]) actor.Behavior[any] {
			ctx.Watch(target)
			return behaviors.Receive(func(_ *actor.Context[any], msg any) actor.Behavior[any] {
				p.Ref().Tell(msg)
				return behaviors.Same
			}).OnSignal(func(_ *actor.Context[any], sig actor.Signal) actor.Behavior[any] {
				p.Ref().Tell(sig)
				return behaviors.Same
			})
		}), "watcher")
		settle()
		target.Tell(stop)
		p.Expect(actor.PostStop{})
		p.Expect(actor.Terminated{Ref: target})
	})
}

func TestWatchingTwiceIsWatchingOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		target := actor.Spawn(s, obedient(), "target")
		ref := actor.Spawn(s, watcher(p), "watcher")
		ref.Tell(watch(target))
		ref.Tell(watch(target))
		settle()
		target.Tell(stop)
		p.Expect("watcher Terminated")
		ref.Tell(do(func(ctx *actor.Context[order]) { // this is another watch, of an actor that has ended
			ctx.Watch(target)
			ctx.Watch(target)
		}))
		p.Expect("watcher Terminated")
		p.ExpectNone(time.Hour)
	})
}

func TestAnEndedWatchTellsNothingEvenIfTheSignalWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		target := actor.Spawn(s, obedient(), "target")
		ref := actor.Spawn(s, watcher(p), "watcher")
		ref.Tell(watch(target))
		ref.Tell(do(func(ctx *actor.Context[order]) {
			target.Tell(stop)
			settle() // so its end waits in the watcher's mailbox
			ctx.Unwatch(target)
		}))
		p.ExpectNone(time.Hour)
		ref.Tell(do(func(ctx *actor.Context[order]) {
			ctx.Unwatch(target)
			ctx.Unwatch(actor.ActorRef[int]{})
		}))
		ref.Tell(say(p, "unwatching what is not watched is fine"))
		p.Expect("unwatching what is not watched is fine")
	})
}

func TestAWatchOfARefThatWasResolvedBeforeItsActorWasSpawnedCanBeEnded(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		early := actor.Resolve[order](s, "understudy://test/user/target")
		target := actor.Spawn(s, obedient(), "target")
		ref := actor.Spawn(s, watcher(p), "")
		ref.Tell(do(func(ctx *actor.Context[order]) {
			ctx.Watch(early)
			target.Tell(stop)
			testkit.NewProbe[int](t, s).ExpectTerminated(target)
			actor.Spawn(s, obedient(), "target") // early leads to this actor now
			ctx.Unwatch(early)
		}))
		p.ExpectNone(time.Hour)
	})
}

func TestAWatchThatIsRenewedWhileTheOldSignalWaitsTellsOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		target := actor.Spawn(s, obedient(), "target")
		ref := actor.Spawn(s, watcher(p), "watcher")
		ref.Tell(watch(target))
		ref.Tell(do(func(ctx *actor.Context[order]) {
			target.Tell(stop)
			settle()
			ctx.Unwatch(target)
			ctx.WatchWith(target, say(p, "told once"))
		}))
		p.Expect("told once")
		p.ExpectNone(time.Hour)
	})
}

func TestWatchWithTellsAMessageInsteadOfASignal(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		parent, child := parentOf(t, s, obedient())
		for _, target := range []actor.ActorRef[order]{actor.Spawn(s, obedient(), ""), ended(t, s), child} {
			parent.Tell(do(func(ctx *actor.Context[order]) { ctx.WatchWith(target, say(p, "it is over")) }))
			settle()
			target.Tell(fail(errBoom))
			p.Expect("it is over")
		}
		p.ExpectNone(time.Hour)
	})
}

func TestAWatchCannotBeChangedWithoutEndingIt(t *testing.T) {
	type self = *actor.Context[string]
	for name, test := range map[string]struct {
		first, second func(self, actor.AnyRef)
		conflict      bool
	}{
		"signal, then message":   {self.Watch, func(c self, r actor.AnyRef) { c.WatchWith(r, "a") }, true},
		"message, then signal":   {func(c self, r actor.AnyRef) { c.WatchWith(r, "a") }, self.Watch, true},
		"message, then another":  {func(c self, r actor.AnyRef) { c.WatchWith(r, "a") }, func(c self, r actor.AnyRef) { c.WatchWith(r, "b") }, true},
		"message, then the same": {func(c self, r actor.AnyRef) { c.WatchWith(r, "a") }, func(c self, r actor.AnyRef) { c.WatchWith(r, "a") }, false},
		"message, unwatch, then another": {func(c self, r actor.AnyRef) { c.WatchWith(r, "a") }, func(c self, r actor.AnyRef) {
			c.Unwatch(r)
			c.WatchWith(r, "b")
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				target := actor.Spawn(s, obedient(), "target")
				err := failureOfChild(t, s, behaviors.Setup(func(ctx self) actor.Behavior[string] {
					test.first(ctx, target)
					test.second(ctx, target)
					return ctx.Fail(errors.New("no conflict"))
				}))
				if test.conflict {
					require.EqualError(t, err, "panic: actor: understudy://test/user/target is watched in another way; unwatch it first")
				} else {
					require.EqualError(t, err, "no conflict")
				}
			})
		})
	}
}

func TestNobodyCannotBeWatched(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		err := failureOfChild(t, s, behaviors.Setup(watch(actor.ActorRef[int]{})))
		require.EqualError(t, err, "panic: actor: cannot watch the zero ActorRef")
	})
}

func TestActorsOnOtherNodesCannotBeWatchedWithoutATransportThatWatches(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		remote := actor.Resolve[int](s, "understudy://test@elsewhere:1/user/x")
		err := failureOfChild(t, s, behaviors.Setup(watch(remote)))
		require.ErrorContains(t, err, "the system has no transport that watches actors of other nodes")
	})
}

func TestAWatcherThatDoesNotHandleTheEndFailsByTheDeathPact(t *testing.T) {
	type self = *actor.Context[order]
	for name, b := range map[string]actor.Behavior[order]{
		"no signal handler": obedient(),
		"unhandled": obedient().OnSignal(func(self, actor.Signal) actor.Behavior[order] {
			return behaviors.Unhandled
		}),
		"messages only": func(_ self, next *actor.Next[order]) {
			next.OnMessage = func(self, order) actor.Behavior[order] { return behaviors.Same }
		},
		"Empty": behaviors.Empty[order],
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				target := ended(t, s)
				err := failureOfChild(t, s, behaviors.Setup(func(ctx self) actor.Behavior[order] {
					ctx.Watch(target)
					return b
				}))
				require.ErrorIs(t, err, actor.ErrDeathPact)
				require.EqualError(t, err, "actor: unhandled end of a watched actor: "+target.Path())
			})
		})
	}
}

func TestABrokenDeathPactIsSupervised(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		target := ended(t, s)
		starts := 0
		strategy := actor.Strategy{Decide: func(err error) actor.Directive {
			if errors.Is(err, actor.ErrDeathPact) {
				return actor.Restart
			}
			return actor.Stop
		}}
		actor.Spawn(s, behaviors.Supervise(behaviors.Setup(func(ctx *actor.Context[order]) actor.Behavior[order] {
			p.Ref().Tell("start")
			if starts++; starts == 1 {
				ctx.Watch(target)
			}
			return obedient()
		}), strategy), "faithful")
		p.Expect("start")
		p.Expect("start")
		p.ExpectNone(time.Hour)
	})
}

func TestOnlyTheParentLearnsThatAChildFailed(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		parent := actor.Spawn(s, obedient().OnSignal(telling(p, "parent")), "parent")
		var child actor.ActorRef[order]
		parent.Tell(do(func(ctx *actor.Context[order]) {
			child = actor.Spawn(ctx, obedient(), "child")
			ctx.Watch(child)
		}))
		settle()
		child.Tell(fail(errBoom))
		p.Expect("parent ChildFailed")
		parent.Tell(do(func(ctx *actor.Context[order]) {
			child = actor.Spawn(ctx, obedient(), "child")
			ctx.Watch(child)
			actor.Spawn(s, watching(p, child), "")
		}))
		settle()
		child.Tell(stop)
		require.ElementsMatch(t, []string{"parent Terminated", "watcher Terminated"}, []string{p.Receive(), p.Receive()})
		target := actor.Spawn(s, obedient(), "target")
		actor.Spawn(s, watching(p, target), "")
		settle()
		target.Tell(fail(errBoom))
		p.Expect("watcher Terminated")
	})
}

func TestAChildThatFailedBeforeItWasWatchedHasFailed(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		parent := actor.Spawn(s, obedient().OnSignal(telling(p, "parent")), "parent")
		parent.Tell(do(func(ctx *actor.Context[order]) {
			child := actor.Spawn(ctx, behaviors.Setup(fail(errBoom)), "")
			settle()
			ctx.Watch(child)
		}))
		p.Expect("parent ChildFailed")
	})
}

func TestAnUnhandledFailureOfAChildIsTheCauseOfTheDeathPact(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		err := failureOfChild(t, s, behaviors.Setup(func(ctx *actor.Context[order]) actor.Behavior[order] {
			ctx.Watch(actor.Spawn(ctx, behaviors.Setup(fail(errBoom)), "grandchild"))
			return obedient()
		}))
		require.ErrorIs(t, err, actor.ErrDeathPact)
		require.ErrorIs(t, err, errBoom)
		require.ErrorContains(t, err, "grandchild failed: boom")
	})
}

func TestARestartOfTheWatchedActorEndsNoWatch(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		target := actor.Spawn(s, behaviors.Supervise(obedient(), actor.Strategy{}), "target")
		actor.Spawn(s, watching(p, target), "")
		settle()
		target.Tell(fail(errBoom))
		p.ExpectNone(time.Hour)
		target.Tell(stop)
		p.Expect("watcher Terminated")
	})
}

func TestARestartOfTheWatcherEndsItsWatches(t *testing.T) {
	for name, watch := range map[string]func(ctx *actor.Context[order], target actor.AnyRef, p *testkit.Probe[string]){
		"Watch": func(ctx *actor.Context[order], r actor.AnyRef, _ *testkit.Probe[string]) { ctx.Watch(r) },
		"WatchWith": func(ctx *actor.Context[order], r actor.AnyRef, p *testkit.Probe[string]) {
			ctx.WatchWith(r, say(p, "told"))
		},
	} {
		for _, of := range []string{"a child", "another"} {
			t.Run(name+" of "+of, func(t *testing.T) {
				inBubble(t, func(t *testing.T, s *actor.System) {
					p := testkit.NewProbe[string](t, s)
					ref := actor.Spawn(s, behaviors.Supervise(watcher(p), actor.Strategy{}), "watcher")
					var target actor.ActorRef[order]
					ref.Tell(do(func(ctx *actor.Context[order]) {
						if of == "a child" {
							target = actor.Spawn(ctx, obedient(), "")
						} else {
							target = actor.Spawn(s, obedient(), "")
						}
						watch(ctx, target, p)
					}))
					ref.Tell(fail(errBoom))
					p.Expect("watcher PreRestart")
					settle()
					target.Tell(stop)
					p.ExpectNone(time.Hour)
				})
			})
		}
	}
}

func TestAWatchOfAnEndThatWaitedDuringARestartIsForgotten(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		target := actor.Spawn(s, obedient(), "target")
		ref := actor.Spawn(s, behaviors.Supervise(watcher(p), actor.Strategy{}), "watcher")
		ref.Tell(watch(target))
		ref.Tell(func(ctx *actor.Context[order]) actor.Behavior[order] {
			target.Tell(stop)
			settle()
			return ctx.Fail(errBoom)
		})
		p.Expect("watcher PreRestart")
		p.ExpectNone(time.Hour)
	})
}

func TestTheEndOfAWatchedActorIsNotPushedOutOfAFullMailbox(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		target := actor.Spawn(s, obedient(), "target")
		release := make(chan struct{})
		ref := actor.Spawn(s, watcher(p), "watcher", actor.Bounded(1).DropOldest())
		ref.Tell(do(func(ctx *actor.Context[order]) {
			ctx.Watch(target)
			<-release
		}))
		settle()
		target.Tell(stop)
		settle()
		ref.Tell(say(p, "pushed out"))
		ref.Tell(say(p, "last"))
		close(release)
		p.Expect("watcher Terminated")
		p.Expect("last")
		p.ExpectNone(time.Hour)
	})
}

func TestWatchingAnAdapterIsWatchingItsActor(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		adapters := testkit.NewProbe[actor.ActorRef[int]](t, s)
		target := actor.Spawn(s, obedient(), "target")
		target.Tell(do(func(ctx *actor.Context[order]) {
			adapters.Ref().Tell(actor.Adapt(ctx, func(int) order { return stop }))
		}))
		adapter := adapters.Receive()
		actor.Spawn(s, watching(p, adapter), "")
		settle()
		adapter.Tell(1)
		p.Expect("watcher Terminated")
	})
}

func TestAWatchThatBeginsWhileItsTargetEndsIsNeverLost(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		const rounds = 200
		p := testkit.NewProbe[string](t, s)
		for range rounds {
			target := actor.Spawn(s, obedient(), "")
			ref := actor.Spawn(s, watcher(p), "")
			go target.Tell(stop)
			go ref.Tell(watch(target))
		}
		for range rounds {
			p.Expect("watcher Terminated")
		}
		p.ExpectNone(time.Hour)
	})
}

func TestAnActorMayWatchItself(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, watcher(p), "")
		ref.Tell(watch(ref))
		ref.Tell(stop)
		p.Expect("watcher PostStop")
		p.ExpectNone(time.Hour)
	})
}
