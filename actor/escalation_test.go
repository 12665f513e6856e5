package actor_test

import (
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

func TestAFailureThatEscalatesIsLoggedAtTheLevelOfTheOutermostStrategy(t *testing.T) {
	core, logs := observer.New(zap.DebugLevel)
	inBubbleWith(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[string](t, s)
		ref := actor.Spawn(s, behaviors.Supervise(behaviors.Supervise(obedient(), always(actor.Escalate)), actor.Strategy{
			Decide:   func(error) actor.Directive { return actor.Escalate },
			LogLevel: func(error, int) zapcore.Level { return zapcore.InfoLevel },
		}), "it")
		ref.Tell(fail(errBoom))
		p.ExpectTerminated(ref)
		var lines []string
		for _, e := range logs.FilterMessage("actor failed; stopping").TakeAll() {
			lines = append(lines, e.Level.String())
		}
		require.Equal(t, []string{"info"}, lines)
	}, actor.WithLogger(zap.New(core)))
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
