package actor_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zapcore"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/testkit"
)

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

func TestAFailureAfterWhichTheActorResumesEndsGoodTimes(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		var inARow []int
		ref := actor.Spawn(s, behaviors.Supervise(obedient(), actor.Strategy{
			Decide:  func(error) actor.Directive { return actor.Resume },
			Backoff: actor.Backoff{Min: time.Second},
			LogLevel: func(_ error, n int) zapcore.Level {
				inARow = append(inARow, n)
				return zapcore.InvalidLevel
			},
		}), "it")
		for _, pause := range []time.Duration{time.Minute, 0, time.Second - 1, time.Second} {
			time.Sleep(pause)
			ref.Tell(fail(errBoom))
			settle()
		}
		require.Equal(t, []int{1, 2, 3, 1}, inARow)
	})
}

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
		dead := deadLetters(t, s)
		parent, child := parentOf(t, s, behaviors.Supervise(life(p), actor.Strategy{Backoff: actor.Backoff{Min: time.Hour}}))
		child.Tell(fail(errBoom))
		child.Tell(say(p, "never"))
		p.Expect("start")
		p.Expect("it PreRestart")
		settle()
		parent.Tell(do(func(ctx *actor.Context[order]) { ctx.Stop(child) }))
		p.ExpectTerminated(child)
		dead.Receive()
		p.ExpectNone(2 * time.Hour)
	})
}

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
