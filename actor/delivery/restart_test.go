package delivery_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/delivery"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/testkit"
)

func TestAProducerThatIsRestartedGoesOnWithTheConsumerThatItHad(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		got := testkit.NewProbe[int](t, s)
		producer := actor.Spawn(s, restarting(delivery.Producer[int]()), "producer")
		consumer := actor.Spawn(s, delivery.Consumer(confirming(got)), "consumer")
		for range 3 {
			producer.Tell(delivery.Connect[int]{Consumer: consumer})
			send(producer, 5)
			for i := 1; i <= 5; i++ {
				got.Expect(i)
			}
			synctest.Wait()
			producer.Tell(delivery.Send[int]{Message: poison})
		}
		got.ExpectNone(time.Hour)
	})
}

func TestAWorkerThatFailsAtATimerGetsAgainWhatItHasPutAside(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		type D = delivery.Delivery[int]
		got, tries := testkit.NewProbe[D](t, s), 0
		worker := behaviors.Supervise(working(func(ctx *actor.Context[D], d D) actor.Behavior[D] {
			if d.Message == poison {
				return ctx.Fail(errPoison)
			}
			got.Ref().Tell(d)
			if tries++; tries < 4 {
				ctx.After("later", time.Second, D{Message: poison})
			}
			return nil
		}), actor.Strategy{})
		producer := actor.Spawn(s, delivery.Producer[int](), "producer")
		producer.Tell(delivery.Connect[int]{Consumer: actor.Spawn(s, delivery.Consumer(worker), "consumer")})
		send(producer, 2)
		for range 4 {
			require.Equal(t, 1, got.Receive().Message)
		}
		got.ExpectNone(time.Hour)
	})
}

func TestAConfirmationOfAnAttemptThatFailedDoesNotCountForTheNext(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		type D = delivery.Delivery[int]
		got, tries := testkit.NewProbe[D](t, s), 0
		worker := behaviors.Supervise(working(func(ctx *actor.Context[D], d D) actor.Behavior[D] {
			got.Ref().Tell(d)
			if tries++; tries == 1 {
				return ctx.Fail(errPoison)
			}
			return nil
		}), actor.Strategy{})
		producer := actor.Spawn(s, delivery.Producer[int](), "producer")
		producer.Tell(delivery.Connect[int]{Consumer: actor.Spawn(s, delivery.Consumer(worker), "consumer")})
		send(producer, 2)
		failed, second := got.Receive(), got.Receive()
		require.Equal(t, failed.Number, second.Number)
		failed.Confirm()
		got.ExpectNone(time.Hour)
		second.Confirm()
		require.Equal(t, 2, got.Receive().Message)
		second.Confirm()
		got.ExpectNone(time.Hour)
	})
}

func TestAConsumerThatIsRestartedCountsNoConfirmationOfItsFormerWorker(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		got := testkit.NewProbe[delivery.Delivery[int]](t, s)
		producer := actor.Spawn(s, delivery.Producer[int](), "producer")
		fails := make(chan struct{}, 1)
		consumer := actor.Spawn(s, behaviors.Supervise(behaviors.Intercept(&behaviors.Interceptor[delivery.Link[int]]{
			Message: func(ctx *actor.Context[delivery.Link[int]], m delivery.Link[int], inner actor.MessageHandler[delivery.Link[int]]) actor.Behavior[delivery.Link[int]] {
				select {
				case <-fails:
					return ctx.Fail(errPoison)
				default:
					return inner(ctx, m)
				}
			},
		}, delivery.Consumer(passing(got), delivery.Window(1))), actor.Strategy{}), "consumer")
		producer.Tell(delivery.Connect[int]{Consumer: consumer})
		send(producer, 2)
		former := got.Receive()
		fails <- struct{}{} // at the next resend
		time.Sleep(time.Minute)
		again := got.Receive()
		require.Equal(t, 1, again.Message)
		former.Confirm()
		got.ExpectNone(time.Hour)
		again.Confirm()
		require.Equal(t, 2, got.Receive().Message)
	})
}

func TestWhatProducerAndConsumerSayToEachOtherIsNoDeadLetter(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		deadLetters := dead(t, s)
		got, watch := testkit.NewProbe[int](t, s), testkit.NewProbe[int](t, s)
		first := actor.Spawn(s, delivery.Consumer(working(
			func(*actor.Context[delivery.Delivery[int]], delivery.Delivery[int]) actor.Behavior[delivery.Delivery[int]] {
				return behaviors.Stopped
			})), "first")
		producer := actor.Spawn(s, delivery.Producer[int](), "producer")
		producer.Tell(delivery.Connect[int]{Consumer: first})
		send(producer, 10)
		watch.ExpectTerminated(first)
		producer.Tell(delivery.Connect[int]{Consumer: first})
		deadLetters.ExpectNone(time.Minute)
		producer.Tell(delivery.Connect[int]{Consumer: actor.Spawn(s, delivery.Consumer(confirming(got)), "second")})
		for i := 1; i <= 10; i++ {
			got.Expect(i)
		}
		deadLetters.ExpectNone(time.Minute)
	})
}
