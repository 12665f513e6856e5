package delivery_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/delivery"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

func TestANilIsHandedOverAsTellDeliversIt(t *testing.T) {
	for name, opts := range map[string][]delivery.Option{
		"plain":                  nil,
		"in parts":               {delivery.ChunkAbove(1)},
		"with a queue":           {delivery.WithQueue(&shelf{})},
		"in parts, with a queue": {delivery.WithQueue(&shelf{}), delivery.ChunkAbove(1)},
	} {
		t.Run(name, func(t *testing.T) { handsOverNil(t, opts) })
	}
}

func handsOverNil(t *testing.T, opts []delivery.Option) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		log := testkit.NewProbe[any](t, s)
		consumer := actor.Spawn(s, delivery.Consumer(behaviors.Receive(func(_ *actor.Context[delivery.Delivery[any]], d delivery.Delivery[any]) actor.Behavior[delivery.Delivery[any]] {
			log.Ref().Tell(d.Message)
			d.Confirm()
			return behaviors.Same
		})), "consumer")
		producer := actor.Spawn(s, delivery.Producer[any](opts...), "producer")
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

// A producer that loads a nil from its queue sends it, and does not take it for a confirmed
// message.
func TestANilInAQueueSurvivesTheProducer(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		q := &shelf{}
		ctx, cancel := context.WithCancel(t.Context())
		first := actor.Spawn(s, delivery.Producer[any](delivery.WithQueue(q)), "", extension.WithContext(ctx))
		for _, msg := range []any{1, nil, 2} {
			first.Tell(delivery.Send[any]{Message: msg})
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		log := testkit.NewProbe[any](t, s)
		consumer := actor.Spawn(s, delivery.Consumer(behaviors.Receive(func(_ *actor.Context[delivery.Delivery[any]], d delivery.Delivery[any]) actor.Behavior[delivery.Delivery[any]] {
			log.Ref().Tell(d.Message)
			d.Confirm()
			return behaviors.Same
		})), "")
		actor.Spawn(s, delivery.Producer[any](delivery.WithQueue(q)), "").Tell(delivery.Connect[any]{Consumer: consumer})
		for _, msg := range []any{1, nil, 2} {
			log.Expect(msg)
		}
	})
}
