package actor_test

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

func TestAGateThatShutsEndsTheActorBeforeTheNextMessage(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		errShut := errors.New("shut")
		dead := deadLetters(t, s)
		var handled []int
		var ended bool
		open := func() error {
			if len(handled) < 2 {
				return nil
			}
			return errShut
		}
		counting := behaviors.Receive(func(_ *actor.Context[int], n int) actor.Behavior[int] {
			handled = append(handled, n)
			return behaviors.Same
		}).OnSignal(func(_ *actor.Context[int], sig actor.Signal) actor.Behavior[int] {
			_, ended = sig.(actor.PostStop)
			return behaviors.Same
		})
		told := make(chan struct{})
		waiting := behaviors.Setup(func(*actor.Context[int]) actor.Behavior[int] {
			<-told
			return counting
		})
		ref := actor.Spawn(s, behaviors.Supervise(waiting, actor.Strategy{}), "gated", extension.WithAdmissionCheck(open))
		for n := range 5 {
			ref.Tell(n)
		}
		close(told)
		for n := 2; n < 5; n++ {
			dead.Expect(actor.DeadLetter{Recipient: ref.String(), Message: n, Reason: errShut})
		}
		dead.ExpectNone(time.Hour)
		require.Equal(t, []int{0, 1}, handled)
		require.True(t, ended, "PostStop is handled")
	})
}

func TestAGateIsNotAskedWhileNothingWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		asked := 0
		ref := actor.Spawn(s, behaviors.Receive(func(*actor.Context[int], int) actor.Behavior[int] {
			return behaviors.Same
		}), "gated", extension.WithAdmissionCheck(func() error {
			asked++
			return nil
		}))
		settle()
		require.Zero(t, asked)
		ref.Tell(1)
		settle()
		require.Equal(t, 1, asked)
	})
}

func TestAGateThatPanicsIsShut(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		dead := deadLetters(t, s)
		told := make(chan struct{})
		ref := actor.Spawn(s, behaviors.Supervise(behaviors.Ignore[int], actor.Strategy{
			Decide: func(error) actor.Directive { return actor.Resume },
		}), "gated", extension.WithAdmissionCheck(func() error {
			<-told
			panic("the lock is broken")
		}))
		ref.Tell(1)
		ref.Tell(2)
		close(told)
		for n := 1; n <= 2; n++ {
			lost := dead.Receive()
			require.Equal(t, n, lost.Message)
			require.EqualError(t, lost.Reason, "panic: the lock is broken")
		}
	})
}

func TestAGateThatEndsItsGoroutineIsShut(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		dead := deadLetters(t, s)
		ref := actor.Spawn(s, behaviors.Ignore[int], "gated", extension.WithAdmissionCheck(func() error {
			runtime.Goexit()
			return nil
		}))
		ref.Tell(1)
		ref.Tell(2)
		testkit.NewProbe[int](t, s).ExpectTerminated(ref)
		require.ErrorContains(t, dead.Receive().Reason, "runtime.Goexit")
	})
}
