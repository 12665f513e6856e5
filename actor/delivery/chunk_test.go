package delivery_test

import (
	"context"
	"strings"
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

// texts is a worker that hands all deliveries to the probe.
func texts(p *testkit.Probe[delivery.Delivery[string]]) actor.Behavior[delivery.Delivery[string]] {
	return behaviors.Receive(func(_ *actor.Context[delivery.Delivery[string]], d delivery.Delivery[string]) actor.Behavior[delivery.Delivery[string]] {
		p.Ref().Tell(d)
		return behaviors.Same
	})
}

// expectText expects a message, and confirms it.
func expectText(t *testing.T, p *testkit.Probe[delivery.Delivery[string]], number uint64, text string) {
	t.Helper()
	d := p.Receive()
	require.Equal(t, text, d.Message)
	require.Equal(t, number, d.Number)
	d.Confirm()
}

// long needs n parts of 10 bytes, its CBOR head included.
func long(n int) string { return strings.Repeat("x", 10*n-4) }

func TestALargeMessageGoesInPartsAndIsConfirmedAsOne(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		got, accepted := testkit.NewProbe[delivery.Delivery[string]](t, s), testkit.NewProbe[delivery.Accepted](t, s)
		producer := actor.Spawn(s, delivery.Producer[string](delivery.ChunkAbove(10)), "producer")
		producer.Tell(delivery.Connect[string]{Consumer: actor.Spawn(s, delivery.Consumer(texts(got), delivery.Window(4)), "consumer")})
		number := uint64(0)
		for _, n := range []int{1, 3, 100, 1, 4, 5, 2} { // of more parts than the window, too
			producer.Tell(delivery.Send[string]{Message: long(n), ReplyTo: accepted.Ref()})
			number += uint64(n)
			expectText(t, got, number, long(n))
			accepted.Expect(delivery.Accepted{Number: number})
		}
		got.ExpectNone(time.Hour)
	})
}

func TestPartsThatAreLostAreSentAgain(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		got := testkit.NewProbe[delivery.Delivery[string]](t, s)
		producer := actor.Spawn(s, delivery.Producer[string](delivery.ChunkAbove(10)), "producer")
		consumer := losing[string](delivery.Consumer(texts(got), delivery.Window(4)), func(n int) bool { return n%3 == 0 })
		producer.Tell(delivery.Connect[string]{Consumer: actor.Spawn(s, consumer, "consumer")})
		for range 3 {
			producer.Tell(delivery.Send[string]{Message: long(20)})
		}
		for i := range 3 {
			time.Sleep(time.Hour)
			expectText(t, got, 20*uint64(i+1), long(20))
		}
	})
}

func TestAConsumerThatComesInTheMiddleOfAMessageGetsAllOfIt(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		got := testkit.NewProbe[delivery.Delivery[string]](t, s)
		for _, option := range []delivery.Option{delivery.ChunkAbove(10), delivery.WithQueue(&shelf{})} {
			producer := actor.Spawn(s, delivery.Producer[string](option, delivery.ChunkAbove(10)), "")
			half := losing[string](delivery.Consumer(texts(got), delivery.Window(4)), func(n int) bool { return n > 10 })
			producer.Tell(delivery.Connect[string]{Consumer: actor.Spawn(s, half, "")})
			producer.Tell(delivery.Send[string]{Message: long(20)})
			producer.Tell(delivery.Send[string]{Message: long(2)})
			got.ExpectNone(time.Minute)
			producer.Tell(delivery.Connect[string]{Consumer: actor.Spawn(s, delivery.Consumer(texts(got)), "")})
			expectText(t, got, 20, long(20))
			expectText(t, got, 22, long(2))
		}
	})
}

func TestTheNextProducerGoesOnWithMessagesThatWereStoredInParts(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		q, got := &shelf{}, testkit.NewProbe[delivery.Delivery[string]](t, s)
		consumer := actor.Spawn(s, delivery.Consumer(texts(got), delivery.Window(4)), "consumer")
		for i, size := range []int{10, 1000, 15} {
			ctx, stop := context.WithCancel(t.Context())
			producer := actor.Spawn(s, delivery.Producer[string](delivery.WithQueue(q), delivery.ChunkAbove(size)), "", extension.WithContext(ctx))
			producer.Tell(delivery.Send[string]{Message: long(3)})
			producer.Tell(delivery.Connect[string]{Consumer: consumer})
			if i == 0 {
				producer.Tell(delivery.Send[string]{Message: long(6)})
			}
			synctest.Wait()
			stop()
			synctest.Wait()
		}
		actor.Spawn(s, delivery.Producer[string](delivery.WithQueue(q)), "last").Tell(delivery.Connect[string]{Consumer: consumer})
		expectText(t, got, 3, long(3))
		expectText(t, got, 9, long(6))
		expectText(t, got, 10, long(3))
		expectText(t, got, 12, long(3))
		got.ExpectNone(time.Hour)
	})
}

func TestAMessageThatIsTooLargeIsRefusedAndThoseAfterItGoOn(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		got, deadLetters := testkit.NewProbe[delivery.Delivery[string]](t, s), dead(t, s)
		for i, option := range []delivery.Option{delivery.WithQueue(&shelf{}), delivery.ChunkAbove(30)} {
			accepted := testkit.NewProbe[delivery.Accepted](t, s)
			producer := actor.Spawn(s, delivery.Producer[string](option, delivery.MaxBytes(100)), "")
			producer.Tell(delivery.Connect[string]{Consumer: actor.Spawn(s, delivery.Consumer(texts(got)), "")})
			producer.Tell(delivery.Send[string]{Message: long(11), ReplyTo: accepted.Ref()})
			producer.Tell(delivery.Send[string]{Message: long(9), ReplyTo: accepted.Ref()})
			expectDead(t, deadLetters, long(11), delivery.ErrTooLarge)
			expectText(t, got, []uint64{1, 3}[i], long(9))
			accepted.Expect(delivery.Accepted{})
			accepted.Expect(delivery.Accepted{Number: []uint64{1, 3}[i]})
		}
	})
}
