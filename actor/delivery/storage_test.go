package delivery_test

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/delivery"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/testkit"
)

func TestConfirmationsAreStoredWhileMessagesComeWithoutPause(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		q := &shelf{onAppend: func(context.Context, []extension.Payload) error {
			time.Sleep(time.Millisecond) // the latency of a disk
			return nil
		}}
		got := testkit.NewProbe[int](t, s)
		producer := actor.Spawn(s, delivery.Producer[int](delivery.WithQueue(q)), "producer")
		producer.Tell(delivery.Connect[int]{Consumer: actor.Spawn(s, delivery.Consumer(confirming(got)), "consumer")})
		for i := range 2000 {
			producer.Tell(delivery.Send[int]{Message: i})
			time.Sleep(100 * time.Microsecond) // the rate of the outside world
		}
		require.Greater(t, q.upTo(), uint64(1500))
	})
}

func TestWhatAQueueAnswersToAFormerIncarnationIsIgnored(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		slow := make(chan struct{})
		calls := 0
		q := &shelf{onLoad: func(ctx context.Context) error {
			if calls++; calls > 1 {
				return nil
			}
			select {
			case <-slow:
				return nil
			case <-ctx.Done():
				<-slow // it does not care
				return ctx.Err()
			}
		}}
		accepted := testkit.NewProbe[delivery.Accepted](t, s)
		producer := actor.Spawn(s, restarting(delivery.Producer[int](delivery.WithQueue(q))), "producer")
		got := testkit.NewProbe[delivery.Delivery[int]](t, s)
		synctest.Wait()
		producer.Tell(delivery.Send[int]{Message: poison})
		producer.Tell(delivery.Connect[int]{Consumer: actor.Spawn(s, delivery.Consumer(passing(got)), "consumer")})
		producer.Tell(delivery.Send[int]{Message: 1, ReplyTo: accepted.Ref()})
		accepted.Expect(delivery.Accepted{Number: 1})
		close(slow)
		synctest.Wait()
		producer.Tell(delivery.Send[int]{Message: 2, ReplyTo: accepted.Ref()})
		accepted.Expect(delivery.Accepted{Number: 2})
		require.Equal(t, 1, got.Receive().Message)
		got.ExpectNone(time.Hour)
	})
}

func TestOnlyTheMessageThatCannotBeStoredIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		bad, err := extension.Pack(3)
		require.NoError(t, err)
		q := &shelf{onAppend: func(_ context.Context, messages []extension.Payload) error {
			for _, m := range messages {
				if reflect.DeepEqual(m, bad) {
					return fmt.Errorf("%w: three", delivery.ErrNotStorable)
				}
			}
			return nil
		}}
		deadLetters, got := dead(t, s), testkit.NewProbe[int](t, s)
		accepted := testkit.NewProbe[delivery.Accepted](t, s)
		producer := actor.Spawn(s, delivery.Producer[int](delivery.WithQueue(q)), "producer")
		producer.Tell(delivery.Connect[int]{Consumer: actor.Spawn(s, delivery.Consumer(confirming(got)), "consumer")})
		for i := 1; i <= 5; i++ {
			producer.Tell(delivery.Send[int]{Message: i, ReplyTo: accepted.Ref()})
		}
		expectDead(t, deadLetters, 3, delivery.ErrNotStorable)
		for _, i := range []int{1, 2, 4, 5} {
			got.Expect(i)
		}
		numbers := map[uint64]int{}
		for range 5 {
			numbers[accepted.Receive().Number]++
		}
		require.Equal(t, map[uint64]int{0: 1, 1: 1, 2: 1, 3: 1, 4: 1}, numbers)
	})
}

func TestAProducerThatEndsAnswersWhoeverWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		appends := 0
		q := &shelf{onAppend: func(ctx context.Context, _ []extension.Payload) error {
			if appends++; appends == 1 {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		}}
		deadLetters := dead(t, s)
		ctx, stop := context.WithCancel(t.Context())
		producer := actor.Spawn(s, delivery.Producer[int](delivery.WithQueue(q)), "producer", extension.WithContext(ctx))
		answers := make([]*testkit.Probe[delivery.Accepted], 3)
		for i := range answers {
			answers[i] = testkit.NewProbe[delivery.Accepted](t, s)
			producer.Tell(delivery.Send[int]{Message: i, ReplyTo: answers[i].Ref()})
			synctest.Wait()
		}
		stop()
		answers[0].Expect(delivery.Accepted{Number: 1}) // it is stored
		answers[1].Expect(delivery.Accepted{})
		answers[2].Expect(delivery.Accepted{})
		expectDead(t, deadLetters, 1, delivery.ErrPerhapsStored)
		expectDead(t, deadLetters, 2, actor.ErrTerminated)
		deadLetters.ExpectNone(time.Hour)
	})
}

// hostile panics when it is encoded.
type hostile int

func (hostile) MarshalCBOR() ([]byte, error) { panic("no") }

func init() { actor.RegisterType[hostile]("delivery_test.hostile") }

func TestAMessageThatPanicsWhenItIsEncodedIsRefused(t *testing.T) {
	inBubble(t, func(t *testing.T, s *actor.System) {
		deadLetters := dead(t, s)
		accepted := testkit.NewProbe[delivery.Accepted](t, s)
		producer := actor.Spawn(s, delivery.Producer[hostile](delivery.WithQueue(&shelf{})), "producer")
		producer.Tell(delivery.Send[hostile]{Message: 1, ReplyTo: accepted.Ref()})
		accepted.Expect(delivery.Accepted{})
		expectDead(t, deadLetters, hostile(1), actor.ErrNotSerializable)
	})
}
