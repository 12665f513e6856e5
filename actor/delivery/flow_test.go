package delivery_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/delivery"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/testkit"
)

// losing is a consumer that does not get the messages of which lost is true; they are
// counted from 1 on.
func losing[M any](consumer actor.Behavior[delivery.Link[M]], lost func(n int) bool) actor.Behavior[delivery.Link[M]] {
	n := 0
	return behaviors.Intercept(&behaviors.Interceptor[delivery.Link[M]]{
		Message: func(ctx *actor.Context[delivery.Link[M]], m delivery.Link[M], inner actor.MessageHandler[delivery.Link[M]]) actor.Behavior[delivery.Link[M]] {
			if n++; lost(n) {
				return behaviors.Same
			}
			return inner(ctx, m)
		},
	}, consumer)
}

func TestFlowControlAloneSendsNothingAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		var got []int
		worker := working(func(_ *actor.Context[delivery.Delivery[int]], d delivery.Delivery[int]) actor.Behavior[delivery.Delivery[int]] {
			got = append(got, d.Message)
			d.Confirm()
			return behaviors.Same
		})
		producer := actor.Spawn(s, delivery.Producer[int](delivery.FlowControlOnly()), "producer")
		consumer := losing[int](delivery.Consumer(worker, delivery.Window(4)), func(n int) bool { return n%5 == 3 })
		producer.Tell(delivery.Connect[int]{Consumer: actor.Spawn(s, consumer, "consumer")})
		send(producer, 100)
		time.Sleep(time.Hour)
		synctest.Wait()
		require.True(t, slices.IsSorted(got))
		require.Len(t, slices.Compact(got), len(got), "nothing comes twice")
		require.NotContains(t, got, 3)
		require.InDelta(t, 80, len(got), 5)
	})
}

func TestFlowControlAloneGoesOnWhenAWholeWindowWasLost(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		got, cut := testkit.NewProbe[int](t, s), &atomic.Bool{}
		producer := actor.Spawn(s, delivery.Producer[int](delivery.FlowControlOnly()), "producer")
		consumer := losing[int](delivery.Consumer(confirming(got), delivery.Window(4)), func(int) bool { return cut.Load() })
		producer.Tell(delivery.Connect[int]{Consumer: actor.Spawn(s, consumer, "consumer")})
		send(producer, 2)
		got.Expect(1)
		got.Expect(2)
		cut.Store(true)
		send(producer, 100)
		got.ExpectNone(time.Minute)
		cut.Store(false)
		lost := got.Receive()
		require.LessOrEqual(t, lost, 5, "no more than the window is lost")
		for i := lost + 1; i <= 100; i++ {
			got.Expect(i)
		}
	})
}

func TestFlowControlAloneGoesNoFasterThanTheConsumer(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		got, accepted := testkit.NewProbe[delivery.Delivery[int]](t, s), testkit.NewProbe[delivery.Accepted](t, s)
		producer := actor.Spawn(s, delivery.Producer[int](delivery.FlowControlOnly()), "producer")
		producer.Tell(delivery.Connect[int]{Consumer: actor.Spawn(s, delivery.Consumer(passing(got), delivery.Window(3)), "consumer")})
		for i := range 10 {
			producer.Tell(delivery.Send[int]{Message: i, ReplyTo: accepted.Ref()})
		}
		for i := range 3 {
			accepted.Expect(delivery.Accepted{Number: uint64(i) + 1})
		}
		accepted.ExpectNone(time.Hour)
		got.Receive().Confirm()
		got.Receive().Confirm()
		accepted.Expect(delivery.Accepted{Number: 4})
	})
}

func TestToConnectAgainGrantsNoMoreThanTheWindow(t *testing.T) {
	for name, make := range map[string]func(...delivery.Option) actor.Behavior[delivery.Command[int]]{
		"producer": delivery.Producer[int], "work pulling": delivery.WorkPulling[int],
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				got, accepted := testkit.NewProbe[delivery.Delivery[int]](t, s), testkit.NewProbe[delivery.Accepted](t, s)
				producer := actor.Spawn(s, make(delivery.FlowControlOnly()), "producer")
				consumer := actor.Spawn(s, delivery.Consumer(passing(got), delivery.Window(3)), "consumer")
				for i := range 10 {
					producer.Tell(delivery.Connect[int]{Consumer: consumer})
					producer.Tell(delivery.Send[int]{Message: i, ReplyTo: accepted.Ref()})
				}
				for i := range 3 {
					accepted.Expect(delivery.Accepted{Number: uint64(i) + 1})
				}
				accepted.ExpectNone(time.Hour)
			})
		})
	}
}

func TestWhatAConsumerHasOfAProducerThatKeepsNothingIsADeadLetter(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		deadLetters := dead(t, s)
		got, watch := testkit.NewProbe[int](t, s), testkit.NewProbe[int](t, s)
		producer := actor.Spawn(s, delivery.WorkPulling[int](delivery.FlowControlOnly()), "producer")
		first := actor.Spawn(s, delivery.Consumer(working(
			func(_ *actor.Context[delivery.Delivery[int]], d delivery.Delivery[int]) actor.Behavior[delivery.Delivery[int]] {
				if d.Message == 3 {
					return behaviors.Stopped
				}
				d.Confirm()
				return behaviors.Same
			}), delivery.Window(5)), "first")
		producer.Tell(delivery.Connect[int]{Consumer: first})
		send(producer, 20)
		watch.ExpectTerminated(first)
		producer.Tell(delivery.Connect[int]{Consumer: actor.Spawn(s, delivery.Consumer(confirming(got)), "second")})
		next := got.Receive()
		require.Greater(t, next, 3)
		for i := next + 1; i <= 20; i++ {
			got.Expect(i)
		}
		lost := map[any]bool{} // consumer, mailbox and producer report theirs in any order
		for range next - 3 {
			deadLetter := deadLetters.Receive()
			require.ErrorIs(t, deadLetter.Reason, actor.ErrTerminated)
			lost[deadLetter.Message] = true
		}
		for i := 3; i < next; i++ {
			require.True(t, lost[i], i)
		}
		deadLetters.ExpectNone(time.Hour)
	})
}
