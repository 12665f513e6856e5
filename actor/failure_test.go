package actor_test

import (
	"errors"
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

func TestAnActorWithoutSupervisionStopsWhenItFails(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		dead := deadLetters(t, s)
		ref := actor.Spawn(s, life(p), "brittle")
		ref.Tell(fail(errBoom))
		p.Expect("start")
		p.Expect("it PostStop")
		p.ExpectTerminated(ref)
		ref.Tell(say(p, "too late"))
		require.ErrorIs(t, dead.Receive().Reason, actor.ErrTerminated)
		p.ExpectNone(time.Hour)
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

func TestSupervisionOfATransitionThatFailsIsGoneWhenTheActorResumes(t *testing.T) {
	broken := behaviors.Setup(func(*actor.Context[order]) actor.Behavior[order] { panic(errBoom) })
	for name, outer := range map[string]func(actor.Behavior[order]) actor.Behavior[order]{
		"supervised before": func(b actor.Behavior[order]) actor.Behavior[order] {
			return behaviors.Supervise(b, actor.Strategy{})
		},
		"by another handler": func(b actor.Behavior[order]) actor.Behavior[order] {
			return behaviors.Setup(func(ctx *actor.Context[order]) actor.Behavior[order] {
				ctx.Self().Tell(func(*actor.Context[order]) actor.Behavior[order] {
					return behaviors.Supervise(b, actor.Strategy{})
				})
				return obedient()
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				p := testkit.NewProbe[string](t, s)
				ref := actor.Spawn(s, outer(life(p)), "it")
				p.Expect("start")
				ref.Tell(func(*actor.Context[order]) actor.Behavior[order] {
					return behaviors.Supervise(broken, always(actor.Resume))
				})
				ref.Tell(say(p, "resumed"))
				p.Expect("resumed")
				ref.Tell(fail(errBoom))
				p.Expect("it PreRestart")
				p.Expect("start")
			})
		})
	}
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
