package actor_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/testkit"
)

func TestAnActorThatWatchesItselfEndsLikeOthers(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		dead := deadLetters(t, s)
		ref := actor.Spawn(s, life(p), "it")
		p.Expect("start")
		ref.Tell(do(func(ctx *actor.Context[order]) { ctx.Watch(ctx.Self()) }))
		ref.Tell(stop)
		p.Expect("it PostStop")
		p.ExpectTerminated(ref)
		dead.ExpectNone(time.Hour)
	})
}

func TestToUnwatchWhatIsNotWatchedDoesNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		target := actor.Spawn(s, obedient(), "target")
		ref := actor.Spawn(s, life(p), "it")
		p.Expect("start")
		ref.Tell(do(func(ctx *actor.Context[order]) {
			ctx.Unwatch(target)
			ctx.Unwatch(actor.ActorRef[order]{})
			ctx.Watch(target)
			ctx.Unwatch(target)
			ctx.Unwatch(target)
			ctx.WatchWith(target, say(p, "told"))
			ctx.WatchWith(target, say(p, "not told"))
		}))
		p.Expect("it PostStop") // to watch with another message is a mistake
		target.Tell(stop)
		p.ExpectNone(time.Hour)
	})
}

func TestWhatHasEndedAndIsWatchedTwiceIsToldOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		target := ended(t, s)
		ref := actor.Spawn(s, obedient().OnSignal(telling(p, "it")), "it")
		ref.Tell(do(func(ctx *actor.Context[order]) {
			ctx.Watch(target)
			ctx.Watch(target)
		}))
		p.Expect("it Terminated")
		p.ExpectNone(time.Hour)
		ref.Tell(do(func(ctx *actor.Context[order]) { ctx.WatchWith(target, say(p, "again")) }))
		p.Expect("again")
	})
}

func TestWhoSpawnsAtItsEndGetsARefOfNobodyAlive(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		dead := deadLetters(t, s)
		ref := actor.Spawn(s, obedient().OnSignal(func(ctx *actor.Context[order], sig actor.Signal) actor.Behavior[order] {
			child := actor.Spawn(ctx, life(p), "late")
			child.Tell(say(p, "never"))
			ctx.After("timer", 0, say(p, "never"))
			ctx.SetReceiveTimeout(time.Second, say(p, "never"))
			actor.Adapt(ctx, func(int) order { return say(p, "never") }).Tell(1)
			return behaviors.Same
		}), "it")
		ref.Tell(stop)
		require.ErrorIs(t, dead.Receive().Reason, actor.ErrTerminated)
		require.Equal(t, 1, dead.Receive().Message)
		p.ExpectTerminated(ref)
		p.ExpectNone(time.Hour)
	})
}

func TestWhatIsUnstashedAtARestartIsHandledOrADeadLetter(t *testing.T) {
	for _, at := range []string{"the failure", "the end"} {
		t.Run(at, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				handled, starts := 0, 0
				ref := actor.Spawn(s, behaviors.Supervise(behaviors.WithStash(10, func(stash *actor.Stash[string]) actor.Behavior[string] {
					if starts++; starts > 1 {
						return behaviors.Receive(func(*actor.Context[string], string) actor.Behavior[string] {
							handled++
							return behaviors.Same
						})
					}
					return behaviors.Receive(func(ctx *actor.Context[string], word string) actor.Behavior[string] {
						switch word {
						case "the failure":
							return ctx.Fail(errBoom)
						case "the end":
							return behaviors.Stopped
						}
						return stash.Stash(word)
					}).OnSignal(func(*actor.Context[string], actor.Signal) actor.Behavior[string] {
						return stash.UnstashAll(behaviors.Same)
					})
				}), actor.Strategy{}), "it")
				for _, word := range []string{"a", "b", at} {
					ref.Tell(word)
				}
				settle()
				require.Equal(t, uint64(2), uint64(handled)+s.DeadLetters()) //nolint:gosec // not negative
			})
		})
	}
}

func TestAnAskWithAContextThatHasEndedSaysSo(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		ref := actor.Spawn(s, behaviors.Ignore[question], "it")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errOther)
		_, err := actor.Ask(ctx, ref, ask)
		require.ErrorIs(t, err, context.Canceled)
		expired, stop := context.WithDeadline(t.Context(), time.Now())
		defer stop()
		_, err = actor.Ask(expired, ref, ask)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestAnAskOfItselfEndsAtOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[error](t, s)
		ref := actor.Spawn(s, obedient(), "it")
		ref.Tell(do(func(ctx *actor.Context[order]) {
			limited, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			_, err := actor.Ask(limited, ctx.Self(), func(r actor.ActorRef[int]) order {
				return do(func(*actor.Context[order]) { r.Tell(1) })
			})
			p.Ref().Tell(err)
		}))
		require.ErrorIs(t, p.Receive(), actor.ErrAskOfSelf)
	})
}

func TestAReceiveTimeoutMayBeChangedWhereItIsHandled(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		var again order
		wait := time.Minute
		again = do(func(ctx *actor.Context[order]) {
			p.Ref().Tell("idle")
			if wait *= 2; wait > 4*time.Minute {
				ctx.CancelReceiveTimeout()
				return
			}
			ctx.SetReceiveTimeout(wait, again)
		})
		actor.Spawn(s, obedient(), "it").Tell(do(func(ctx *actor.Context[order]) { ctx.SetReceiveTimeout(wait, again) }))
		for _, d := range []time.Duration{time.Minute, 2 * time.Minute, 4 * time.Minute} {
			p.ExpectNone(d - 1)
			p.Expect("idle")
		}
		p.ExpectNone(time.Hour)
	})
}

func TestTimersTakeAnyKeyAndAnyTimeAndMayReplaceThemselves(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, obedient(), "it")
		ref.Tell(do(func(ctx *actor.Context[order]) {
			ctx.After("", -time.Hour, do(func(ctx *actor.Context[order]) {
				p.Ref().Tell("at once")
				ctx.After("", time.Minute, say(p, "later"))
			}))
			ctx.Every("every", time.Second, do(func(ctx *actor.Context[order]) {
				p.Ref().Tell("once")
				ctx.CancelTimer("every")
				ctx.CancelTimer("every")
			}))
		}))
		p.Expect("at once")
		p.Expect("once")
		p.ExpectNone(59*time.Second - 1)
		p.Expect("later")
		p.ExpectNone(time.Hour)
	})
}

func TestAFailureEscalatesThroughThreeLevelsToTheOneThatDecides(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		top, below := testkit.NewProbe[string](t, s), testkit.NewProbe[string](t, s) // the top decides while those below still end
		var lowest actor.ActorRef[order]
		level := func(p *testkit.Probe[string], name string, b actor.Behavior[order], st actor.Strategy) actor.Behavior[order] {
			return behaviors.Supervise(behaviors.Setup(func(ctx *actor.Context[order]) actor.Behavior[order] {
				child := actor.Spawn(ctx, b, name)
				if name == "3" {
					lowest = child
				}
				return obedient().OnSignal(telling(p, "above "+name))
			}), st)
		}
		restart := actor.Strategy{Decide: func(err error) actor.Directive {
			require.ErrorIs(t, err, actor.ErrEscalated)
			require.ErrorIs(t, err, errBoom)
			top.Ref().Tell(err.Error())
			return actor.Restart
		}}
		b := level(below, "3", behaviors.Supervise(obedient(), always(actor.Escalate)), always(actor.Escalate))
		actor.Spawn(s, level(top, "1", level(below, "2", b, always(actor.Escalate)), restart), "0")
		settle()
		before := lowest
		lowest.Tell(fail(errBoom))
		below.Expect("above 3 PostStop")
		below.Expect("above 2 PostStop")
		top.Expect("actor: escalated by understudy://test/user/0/1: actor: escalated by understudy://test/user/0/1/2: " +
			"actor: escalated by understudy://test/user/0/1/2/3: boom")
		top.Expect("above 1 PreRestart")
		settle()
		require.False(t, same(before, lowest), "all begin again")
	})
}

func TestEveryWayToFailIsAFailure(t *testing.T) {
	for name, o := range map[string]order{
		"with a nil error": fail(nil),
		"a nil panic":      func(*actor.Context[order]) actor.Behavior[order] { panic(nil) }, //nolint:govet // it is the case
		"a nil order":      nil,
		"a setup":          func(*actor.Context[order]) actor.Behavior[order] { return behaviors.Setup(fail(errBoom)) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				p := testkit.NewProbe[string](t, s)
				ref := actor.Spawn(s, behaviors.Supervise(life(p), actor.Strategy{}), "it")
				p.Expect("start")
				ref.Tell(o)
				p.Expect("it PreRestart")
				p.Expect("start")
			})
		})
	}
}

func TestABehaviorThatStopsInItsSetupEndsTheActorThatTurnsIntoIt(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, life(p), "it")
		p.Expect("start")
		ref.Tell(func(*actor.Context[order]) actor.Behavior[order] { return behaviors.Setup(stop) })
		p.Expect("it PostStop")
		p.ExpectTerminated(ref)
	})
}

func TestADeciderThatPanicsStopsTheActorWhoseDeciderItIs(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, behaviors.Supervise(behaviors.Supervise(life(p),
			actor.Strategy{Decide: func(error) actor.Directive { panic("undecided") }}), actor.Strategy{}), "it")
		p.Expect("start")
		ref.Tell(fail(errBoom))
		p.Expect("it PostStop")
		p.ExpectTerminated(ref)
	})
}

func TestWhatIsPipedAtTheEndIsADeadLetterAndTheShutdownWaits(t *testing.T) {
	endsItself(t, func(t *testing.T, s *actor.System) {
		returned := false
		actor.Spawn(s, obedient().OnSignal(func(ctx *actor.Context[order], _ actor.Signal) actor.Behavior[order] {
			actor.PipeToSelf(ctx, func(context.Context) (int, error) {
				time.Sleep(time.Second)
				returned = true
				return 1, nil
			}, func(int, error) order { return nil })
			return behaviors.Same
		}), "it").Tell(stop)
		settle()
		require.NoError(t, s.Shutdown(t.Context()))
		require.True(t, returned)
		require.EqualValues(t, 1, s.DeadLetters())
	})
}

func TestTheEndOfAChildThatFailedIsToldWithTheMessageAskedFor(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		actor.Spawn(s, obedient(), "it").Tell(do(func(ctx *actor.Context[order]) {
			child := actor.Spawn(ctx, behaviors.Setup(fail(errBoom)), "child")
			ctx.WatchWith(child, say(p, "ended"))
		}))
		p.Expect("ended")
		p.ExpectNone(time.Hour)
	})
}

func TestALaterTellToNobodyIsADeadLetterAndCanBeCancelledOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		dead := deadLetters(t, s)
		var zero actor.ActorRef[int]
		zero.TellAfter(time.Second, 1)
		cancel := zero.TellAfter(time.Second, 2)
		require.True(t, cancel())
		require.False(t, cancel())
		require.Equal(t, 1, dead.Receive().Message)
		dead.ExpectNone(time.Hour)
	})
}

func TestRestartsAndStashAndBackoffAndTimersAndWatchesGoTogether(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		dead := deadLetters(t, s)
		target := actor.Spawn(s, obedient(), "target")
		starts := 0
		ref := actor.Spawn(s, behaviors.Supervise(behaviors.Setup(func(ctx *actor.Context[order]) actor.Behavior[order] {
			starts++
			start := starts
			ctx.Watch(target)
			ctx.Every("tick", time.Minute, say(p, fmt.Sprint("tick ", start)))
			ctx.Defer(func() { p.Ref().Tell(fmt.Sprint("deferred ", start)) })
			return obedient().OnSignal(telling(p, "it"))
		}), actor.Strategy{Backoff: actor.Backoff{Min: 90 * time.Second}, StashCapacity: 2}), "it")
		settle()
		ref.Tell(fail(errors.New("once")))
		p.Expect("it PreRestart")
		p.Expect("deferred 1")
		target.Tell(stop)
		for n := range 3 {
			ref.Tell(say(p, fmt.Sprint("waited ", n)))
		}
		require.ErrorIs(t, dead.Receive().Reason, actor.ErrStashFull)
		p.ExpectNone(90*time.Second - 1)
		p.Expect("waited 0")
		p.Expect("waited 1")
		p.Expect("it Terminated")
		p.ExpectNone(time.Minute - 1)
		p.Expect("tick 2")
		ref.Tell(stop)
		p.Expect("it PostStop")
		p.Expect("deferred 2")
		p.ExpectNone(time.Hour)
	})
}
