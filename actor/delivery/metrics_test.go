package delivery_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/delivery"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/telemetrytest"
	"github.com/understudy-go/understudy/testkit"
)

func TestUnconfirmedMessagesAreCountedUntilTheirProducerEnds(t *testing.T) {
	for name, opts := range map[string][]delivery.Option{
		"in memory":  nil,
		"in a queue": {delivery.WithQueue(&shelf{})},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *actor.System) {
				unconfirmed := func() int {
					t.Helper()
					synctest.Wait()
					return telemetrytest.Value(t, s, "understudy_delivery_unconfirmed", "int")
				}
				got := testkit.NewProbe[delivery.Delivery[int]](t, s)
				ctx, stop := context.WithCancel(t.Context())
				first := actor.Spawn(s, delivery.Producer[int](opts...), "", extension.WithContext(ctx))
				send(first, 5)
				require.Equal(t, 5, unconfirmed())
				send(actor.Spawn(s, delivery.WorkPulling[int](), ""), 2)
				require.Equal(t, 7, unconfirmed(), "all producers of a type")
				first.Tell(delivery.Connect[int]{Consumer: actor.Spawn(s, delivery.Consumer(passing(got), delivery.Window(1)), "")})
				got.Receive().Confirm()
				got.Receive().Confirm()
				got.Receive()
				require.Equal(t, 5, unconfirmed())
				stop()
				require.Equal(t, 2, unconfirmed())
				telemetrytest.Check(t, s)
			})
		})
	}
}

func TestResentAndGivenUpMessagesAreCounted(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		value := func(name string) int {
			t.Helper()
			return telemetrytest.Value(t, s, "understudy_delivery_"+name, "int")
		}
		got := testkit.NewProbe[delivery.Delivery[int]](t, s)
		producer := actor.Spawn(s, delivery.Producer[int](), "")
		producer.Tell(delivery.Connect[int]{Consumer: actor.Spawn(s, delivery.Consumer(passing(got)), "")})
		send(producer, 1)
		d := got.Receive()
		require.Zero(t, value("resent_total"))
		time.Sleep(1500 * time.Millisecond)
		require.Equal(t, 1, value("resent_total"), "the consumer was asked what it has")
		d.Confirm()
		synctest.Wait()
		require.Zero(t, value("unconfirmed"))

		failing := behaviors.Supervise(working(func(ctx *actor.Context[delivery.Delivery[int]], _ delivery.Delivery[int]) actor.Behavior[delivery.Delivery[int]] {
			return ctx.Fail(errPoison)
		}), actor.Strategy{})
		producer = actor.Spawn(s, delivery.Producer[int](), "")
		producer.Tell(delivery.Connect[int]{Consumer: actor.Spawn(s, delivery.Consumer(failing, delivery.Attempts(2)), "")})
		send(producer, 3)
		time.Sleep(time.Minute)
		require.Equal(t, 3, value("given_up_total"))
		require.Equal(t, 3, value("refused_total"))
		require.Zero(t, value("unconfirmed"))
	})
}
