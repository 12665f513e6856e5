package delivery_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/delivery"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/testkit"
)

func TestANilIsHandedOverAsTellDeliversIt(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		log := testkit.NewProbe[any](t, s)
		consumer := actor.Spawn(s, delivery.Consumer(behaviors.Receive(func(_ *actor.Context[delivery.Delivery[any]], d delivery.Delivery[any]) actor.Behavior[delivery.Delivery[any]] {
			log.Ref().Tell(d.Message)
			d.Confirm()
			return behaviors.Same
		})), "consumer")
		producer := actor.Spawn(s, delivery.Producer[any](), "producer")
		producer.Tell(delivery.Connect[any]{Consumer: consumer})
		for _, msg := range []any{1, nil, 2} {
			producer.Tell(delivery.Send[any]{Message: msg})
		}
		for _, msg := range []any{1, nil, 2} {
			log.Expect(msg)
		}
		require.Zero(t, s.DeadLetters())
	})
}
