package delivery_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/delivery"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

func TestMessagesAreHandedOverInOrderOneAtATime(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[delivery.Delivery[int]](t, s)
		producer := actor.Spawn(s, delivery.Producer[int](), "producer")
		consumer := actor.Spawn(s, delivery.Consumer(passing(p), delivery.Window(4)), "consumer")
		send(producer, 100)
		producer.Tell(delivery.Connect[int]{Consumer: consumer})
		for i := 1; i <= 100; i++ {
			d := p.Receive()
			require.Equal(t, i, d.Message)
			require.EqualValues(t, i, d.Number)
			p.ExpectNone(time.Hour)
			d.Confirm()
		}
	})
}

func TestWhoAsksGoesNoFasterThanTheConsumer(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[delivery.Delivery[int]](t, s)
		accepted := testkit.NewProbe[delivery.Accepted](t, s)
		producer := actor.Spawn(s, delivery.Producer[int](), "producer")
		for i := range 10 {
			producer.Tell(delivery.Send[int]{Message: i, ReplyTo: accepted.Ref()})
		}
		accepted.ExpectNone(time.Hour)
		producer.Tell(delivery.Connect[int]{Consumer: actor.Spawn(s, delivery.Consumer(passing(p), delivery.Window(3)), "consumer")})
		for i := range 3 {
			require.EqualValues(t, i+1, accepted.Receive().Number)
		}
		accepted.ExpectNone(time.Hour)
		p.Receive().Confirm()
		p.Receive().Confirm()
		require.EqualValues(t, 4, accepted.Receive().Number)
	})
}

func TestTheNextConsumerGetsWhatHasNotBeenConfirmed(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		p := testkit.NewProbe[delivery.Delivery[int]](t, s)
		producer := actor.Spawn(s, delivery.Producer[int](), "producer")
		first := actor.Spawn(s, delivery.Consumer(behaviors.Receive(
			func(_ *actor.Context[delivery.Delivery[int]], d delivery.Delivery[int]) actor.Behavior[delivery.Delivery[int]] {
				if d.Message == 5 {
					return behaviors.Stopped
				}
				d.Confirm()
				return behaviors.Same
			})), "first")
		watch := testkit.NewProbe[int](t, s)
		producer.Tell(delivery.Connect[int]{Consumer: first})
		send(producer, 8)
		watch.ExpectTerminated(first)
		producer.Tell(delivery.Connect[int]{Consumer: actor.Spawn(s, delivery.Consumer(passing(p)), "second")})
		for i := 5; i <= 8; i++ {
			d := p.Receive()
			require.Equal(t, i, d.Message)
			require.EqualValues(t, i, d.Number)
			d.Confirm()
		}
	})
}

func TestAWorkerThatIsRestartedGetsTheMessageAgainUntilItIsGivenUp(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		deadLetters := testkit.NewProbe[actor.DeadLetter](t, s)
		actor.Subscribe(s, deadLetters.Ref())
		done, tries := testkit.NewProbe[int](t, s), 0
		worker := behaviors.Supervise(behaviors.Receive(
			func(ctx *actor.Context[delivery.Delivery[int]], d delivery.Delivery[int]) actor.Behavior[delivery.Delivery[int]] {
				if d.Message == 2 {
					tries++
					return ctx.Fail(errors.New("poison"))
				}
				done.Ref().Tell(d.Message)
				d.Confirm()
				return behaviors.Same
			}), actor.Strategy{})
		producer := actor.Spawn(s, delivery.Producer[int](), "producer")
		producer.Tell(delivery.Connect[int]{Consumer: actor.Spawn(s, delivery.Consumer(worker, delivery.Attempts(10)), "consumer")})
		send(producer, 3)
		done.Expect(1)
		done.Expect(3)
		require.Equal(t, 10, tries)
		deadLetter := deadLetters.Receive()
		require.Equal(t, 2, deadLetter.Message)
		require.ErrorIs(t, deadLetter.Reason, delivery.ErrGivenUp)
	})
}

func TestWhoWantsToKnowIsToldWhenTheMessageHasBeenHandled(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		got, confirmed := testkit.NewProbe[delivery.Delivery[int]](t, s), testkit.NewProbe[delivery.Confirmed](t, s)
		for _, producer := range []actor.Behavior[delivery.Command[int]]{
			delivery.Producer[int](),
			delivery.Producer[int](delivery.WithQueue(&shelf{})),
			delivery.Producer[int](delivery.ChunkAbove(1)),
			delivery.WorkPulling[int](),
		} {
			ctx, stop := context.WithCancel(t.Context())
			p := actor.Spawn(s, producer, "", extension.WithContext(ctx))
			p.Tell(delivery.Connect[int]{Consumer: actor.Spawn(s, delivery.Consumer(passing(got), delivery.Window(10)), "")})
			for range 2 {
				p.Tell(delivery.Send[int]{Message: 1, ConfirmTo: confirmed.Ref()})
			}
			d := got.Receive()
			confirmed.ExpectNone(time.Hour)
			d.Confirm()
			last := got.Receive()
			last.Confirm()
			confirmed.Expect(delivery.Confirmed{Number: d.Number})
			confirmed.Expect(delivery.Confirmed{Number: last.Number})
			stop()
			confirmed.ExpectNone(time.Hour)
		}
		ctx, stop := context.WithCancel(t.Context())
		actor.Spawn(s, delivery.Producer[int](), "", extension.WithContext(ctx)).Tell(delivery.Send[int]{Message: 1, ConfirmTo: confirmed.Ref()})
		synctest.Wait()
		stop()
		ended := confirmed.Receive()
		require.Zero(t, ended.Number)
		require.ErrorIs(t, ended.Reason, actor.ErrTerminated)
	})
}

func TestBeyondTheBufferMessagesAreRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		deadLetters := testkit.NewProbe[actor.DeadLetter](t, s)
		actor.Subscribe(s, deadLetters.Ref())
		accepted := testkit.NewProbe[delivery.Accepted](t, s)
		ctx, stop := context.WithCancel(t.Context())
		producer := actor.Spawn(s, delivery.Producer[int](delivery.Buffer(2)), "producer", extension.WithContext(ctx))
		send(producer, 2)
		producer.Tell(delivery.Send[int]{Message: 3, ReplyTo: accepted.Ref()})
		require.Zero(t, accepted.Receive().Number)
		deadLetter := deadLetters.Receive()
		require.Equal(t, 3, deadLetter.Message)
		require.ErrorIs(t, deadLetter.Reason, delivery.ErrBufferFull)
		stop()
		for i := 1; i <= 2; i++ {
			deadLetter := deadLetters.Receive()
			require.Equal(t, i, deadLetter.Message)
			require.ErrorIs(t, deadLetter.Reason, actor.ErrTerminated)
		}
	})
}

func TestWorkersPullWhatTheyCanDo(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		slow := testkit.NewProbe[delivery.Delivery[int]](t, s)
		done := testkit.NewProbe[int](t, s)
		jobs := actor.Spawn(s, delivery.WorkPulling[int](), "jobs")
		stuck := actor.Spawn(s, delivery.Consumer(passing(slow), delivery.Window(2)), "slow")
		jobs.Tell(delivery.Connect[int]{Consumer: stuck})
		send(jobs, 20)
		require.Equal(t, 1, slow.Receive().Message)
		synctest.Wait()
		jobs.Tell(delivery.Connect[int]{Consumer: actor.Spawn(s, delivery.Consumer(confirming(done), delivery.Window(2)), "quick")})
		for i := 3; i <= 20; i++ {
			done.Expect(i)
		}
		done.ExpectNone(time.Hour)
	})
}

func TestWhatADeadWorkerHadNotConfirmedGoesToAnother(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		done, watch := testkit.NewProbe[int](t, s), testkit.NewProbe[int](t, s)
		jobs := actor.Spawn(s, delivery.WorkPulling[int](), "jobs")
		dies := actor.Spawn(s, delivery.Consumer(behaviors.Receive(
			func(ctx *actor.Context[delivery.Delivery[int]], d delivery.Delivery[int]) actor.Behavior[delivery.Delivery[int]] {
				if d.Message == 3 {
					return ctx.Fail(errors.New("dead"))
				}
				d.Confirm()
				return behaviors.Same
			})), "dies")
		jobs.Tell(delivery.Connect[int]{Consumer: dies})
		send(jobs, 10)
		watch.ExpectTerminated(dies)
		synctest.Wait()
		jobs.Tell(delivery.Connect[int]{Consumer: actor.Spawn(s, delivery.Consumer(confirming(done)), "lives")})
		for i := 3; i <= 10; i++ {
			done.Expect(i)
		}
	})
}

func TestOptionsThatMakeNoSensePanic(t *testing.T) {
	require.Panics(t, func() { delivery.Window(0) })
	require.Panics(t, func() { delivery.Buffer(0) })
	require.Panics(t, func() { delivery.Attempts(0) })
}
