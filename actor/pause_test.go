package actor_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

// pausing answers each message after a pause that end ends, with what after returns then. A message
// that cannot pause is answered with its negative.
func pausing(p *testkit.Probe[int], end func(extension.Pause), after func(n int) actor.Behavior[int]) actor.Behavior[int] {
	return behaviors.Setup(func(ctx *actor.Context[int]) actor.Behavior[int] {
		current := 0
		pause := extension.NewPause(ctx, func() actor.Behavior[int] {
			p.Ref().Tell(current)
			return after(current)
		})
		return behaviors.Receive(func(_ *actor.Context[int], n int) actor.Behavior[int] {
			if !pause.Begin() {
				p.Ref().Tell(-n)
				return nil
			}
			current = n
			end(pause)
			return nil
		})
	})
}

func inASecond(pause extension.Pause) { time.AfterFunc(time.Second, pause.End) }

func onward(int) actor.Behavior[int] { return nil }

func TestAnActorHandlesNothingDuringAPause(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		ref := actor.Spawn(s, pausing(p, inASecond, onward), "")
		for n := range 3 {
			ref.Tell(n + 1)
		}
		for n := range 3 {
			start := time.Now()
			p.Expect(n + 1)
			require.Equal(t, time.Second, time.Since(start))
		}
	})
}

func TestAPauseMayEndBeforeItsHandlerReturns(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		ref := actor.Spawn(s, pausing(p, extension.Pause.End, onward), "")
		for n := range 1000 {
			ref.Tell(n + 1)
		}
		for n := range 1000 {
			p.Expect(n + 1)
		}
	})
}

func TestAStopComesAfterThePause(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		ref := actor.Spawn(s, pausing(p, inASecond, onward), "")
		ref.Tell(1)
		ref.Tell(2)
		settle()
		start := time.Now()
		require.NoError(t, s.Shutdown(t.Context()))
		require.Equal(t, time.Second, time.Since(start))
		require.Equal(t, uint64(2), s.DeadLetters(), "the reply, and the message that was left")
	})
}

func TestAfterAPauseTheActorMayFailOrChange(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		b := pausing(p, inASecond, func(n int) actor.Behavior[int] {
			switch n {
			case 1:
				panic("boom")
			case 2:
				return behaviors.Stopped[int]
			}
			return behaviors.Receive(func(_ *actor.Context[int], n int) actor.Behavior[int] {
				p.Ref().Tell(100 * n)
				return behaviors.Same
			})
		})
		ref := actor.Spawn(s, behaviors.Supervise(b, actor.Strategy{
			Decide: func(error) actor.Directive { return actor.Restart }, Limit: 1, Window: time.Minute,
		}), "")
		for _, n := range []int{1, 3, 4} {
			ref.Tell(n)
		}
		p.Expect(1)
		p.Expect(3)
		p.Expect(400)
		stops := actor.Spawn(s, b, "")
		stops.Tell(2)
		p.Expect(2)
		p.ExpectTerminated(stops)
	})
}

func TestTheFunctionOfNotifyMayPause(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		notifies := make(chan func(), 1)
		ref := actor.Spawn(s, behaviors.Setup(func(ctx *actor.Context[int]) actor.Behavior[int] {
			pause := extension.NewPause(ctx, func() actor.Behavior[int] {
				p.Ref().Tell(0)
				return nil
			})
			notifies <- ctx.Notify(func() actor.Behavior[int] {
				if pause.Begin() {
					inASecond(pause)
				}
				return nil
			})
			return behaviors.Receive(func(_ *actor.Context[int], n int) actor.Behavior[int] {
				p.Ref().Tell(n)
				return nil
			})
		}), "")
		notify := <-notifies
		for range 3 {
			start := time.Now()
			notify()
			ref.Tell(1)
			settle()
			p.Expect(0)
			p.Expect(1)
			require.Equal(t, time.Second, time.Since(start))
		}
	})
}

func TestThereIsNoPauseWhereOthersWaitForTheHandler(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[int](t, s)
		b := pausing(p, inASecond, onward)
		extension.Deliver(actor.Spawn(s, b, ""), 1, func(err error) { require.NoError(t, err) })
		p.Expect(-1)
		watched := behaviors.Intercept(&behaviors.Interceptor[int]{
			Message: func(ctx *actor.Context[int], n int, next actor.MessageHandler[int]) actor.Behavior[int] {
				return next(ctx, n)
			},
		}, b)
		actor.Spawn(s, watched, "").Tell(2)
		p.Expect(-2)
		inner := behaviors.Transform(b, func(n int) (int, bool) { return n, true })
		actor.Spawn(s, inner, "").Tell(3)
		p.Expect(-3)
	})
}
