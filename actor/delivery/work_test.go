package delivery_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/delivery"
	"github.com/understudy-go/understudy/actor/receptionist"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

func TestWorkInAQueueSurvivesTheProducerAndWhatIsDoneIsNotDoneAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		type D = delivery.Delivery[int]
		q := &shelf{}
		stuck, done := testkit.NewProbe[D](t, s), testkit.NewProbe[int](t, s)
		jobs := actor.Spawn(s, restarting(delivery.WorkPulling[int](delivery.WithQueue(q))), "jobs")
		synctest.Wait()
		jobs.Tell(delivery.Connect[int]{Consumer: actor.Spawn(s, delivery.Consumer(passing(stuck), delivery.Window(2)), "stuck")})
		send(jobs, 10)
		first := stuck.Receive()
		require.Equal(t, 1, first.Message)
		synctest.Wait()
		quick := actor.Spawn(s, delivery.Consumer(confirming(done)), "quick")
		jobs.Tell(delivery.Connect[int]{Consumer: quick})
		for i := 3; i <= 10; i++ {
			done.Expect(i)
		}
		synctest.Wait()
		require.Zero(t, q.upTo(), "the first is not done")

		jobs.Tell(delivery.Send[int]{Message: poison})
		jobs.Tell(delivery.Connect[int]{Consumer: quick})
		done.Expect(1)
		done.Expect(2)
		jobs.Tell(delivery.Send[int]{Message: 11})
		done.Expect(11)
		done.ExpectNone(time.Hour)
		require.EqualValues(t, 11, q.upTo())
	})
}

func TestAMessageHasOneNumberWhoeverGetsIt(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		for _, opts := range [][]delivery.Option{nil, {delivery.WithQueue(&shelf{})}} {
			got, watch := testkit.NewProbe[delivery.Delivery[int]](t, s), testkit.NewProbe[int](t, s)
			accepted := testkit.NewProbe[delivery.Accepted](t, s)
			jobs := actor.Spawn(s, delivery.WorkPulling[int](opts...), "")
			ctx, stop := context.WithCancel(t.Context())
			first := actor.Spawn(s, delivery.Consumer(passing(got)), "", extension.WithContext(ctx))
			jobs.Tell(delivery.Connect[int]{Consumer: first})
			for i := 1; i <= 3; i++ {
				jobs.Tell(delivery.Send[int]{Message: i, ReplyTo: accepted.Ref()})
				accepted.Expect(delivery.Accepted{Number: uint64(i)})
			}
			one := got.Receive()
			require.EqualValues(t, 1, one.Number)
			one.Confirm()
			require.EqualValues(t, 2, got.Receive().Number)
			stop()
			watch.ExpectTerminated(first)
			jobs.Tell(delivery.Connect[int]{Consumer: actor.Spawn(s, delivery.Consumer(passing(got)), "")})
			again := got.Receive()
			require.EqualValues(t, 2, again.Number)
			again.Confirm()
			require.EqualValues(t, 3, got.Receive().Number)
		}
	})
}

var printers = delivery.NewKey[int]("printers")

func TestWorkersAreFoundByTheirKeyAndMayComeAndGo(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		type D = delivery.Delivery[int]
		got := testkit.NewProbe[D](t, s)
		jobs := actor.Spawn(s, delivery.WorkPullingFor(printers), "jobs")
		send(jobs, 3)
		got.ExpectNone(time.Minute)
		first := actor.Spawn(s, delivery.Serve(printers, passing(got), delivery.Window(2)), "first")
		one := got.Receive()
		require.Equal(t, 1, one.Message)

		// One that is not registered any more keeps what it has, and gets nothing new.
		receptionist.Deregister(s, printers.Service(), first)
		synctest.Wait()
		one.Confirm()
		two := got.Receive()
		require.Equal(t, 2, two.Message)
		two.Confirm()
		got.ExpectNone(time.Hour)

		actor.Spawn(s, delivery.Serve(printers, passing(got)), "second")
		three := got.Receive()
		require.Equal(t, 3, three.Message)
		three.Confirm()
		receptionist.Register(s, printers.Service(), first)
		synctest.Wait()
		send(jobs, 2)
		require.ElementsMatch(t, []int{1, 2}, []int{got.Receive().Message, got.Receive().Message}, "each has one")
	})
}
