package deliveryqueue_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/delivery"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/deliveryqueue"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
)

// worker reports its messages to a probe, and confirms the allowed ones.
func worker(got *testkit.Probe[int], upTo int) actor.Behavior[delivery.Delivery[int]] {
	return behaviors.Receive(func(_ *actor.Context[delivery.Delivery[int]], d delivery.Delivery[int]) actor.Behavior[delivery.Delivery[int]] {
		got.Ref().Tell(d.Message)
		if d.Message <= upTo {
			d.Confirm()
		}
		return behaviors.Same
	})
}

func produce(s *actor.System, j persistence.Journal, name string) actor.ActorRef[delivery.Command[int]] {
	return actor.Spawn(s, delivery.Producer[int](delivery.WithQueue(deliveryqueue.New("orders", j))), name)
}

func TestTheNextProducerGoesOnWithWhatHasNotBeenConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := journal.NewMemory()
		first := actor.NewSystem("first")
		got := testkit.NewProbe[int](t, first)
		producer := produce(first, j, "producer")
		producer.Tell(delivery.Connect[int]{Consumer: actor.Spawn(first, delivery.Consumer(worker(got, 6)), "consumer")})
		for i := 1; i <= 10; i++ {
			producer.Tell(delivery.Send[int]{Message: i})
		}
		for i := 1; i <= 7; i++ {
			got.Expect(i)
		}
		synctest.Wait()
		require.NoError(t, first.Shutdown(t.Context()))

		s := testkit.NewSystem(t, testkit.WithoutEncoding())
		again := testkit.NewProbe[int](t, s)
		producer = produce(s, j, "producer")
		producer.Tell(delivery.Connect[int]{Consumer: actor.Spawn(s, delivery.Consumer(worker(again, 100)), "consumer")})
		numbers := testkit.NewProbe[delivery.Accepted](t, s)
		producer.Tell(delivery.Send[int]{Message: 11, ReplyTo: numbers.Ref()})
		require.EqualValues(t, 11, numbers.Receive().Number)
		next := again.Receive()
		require.LessOrEqual(t, next, 7)
		for i := next + 1; i <= 11; i++ {
			again.Expect(i)
		}
	})
}

func TestAConsumerThatLivesGetsNothingTwiceWhenItsProducerIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s := journal.NewMemory(), testkit.NewSystem(t, testkit.WithoutEncoding())
		got := testkit.NewProbe[int](t, s)
		consumer := actor.Spawn(s, delivery.Consumer(worker(got, 100)), "consumer")
		for round := range 5 {
			ctx, stop := context.WithCancel(t.Context())
			queue := deliveryqueue.New("orders", j)
			producer := actor.Spawn(s, delivery.Producer[int](delivery.WithQueue(queue)), "", extension.WithContext(ctx))
			producer.Tell(delivery.Connect[int]{Consumer: consumer})
			accepted := testkit.NewProbe[delivery.Accepted](t, s)
			for i := 1; i <= 7; i++ {
				producer.Tell(delivery.Send[int]{Message: 7*round + i, ReplyTo: accepted.Ref()})
			}
			for range 7 {
				require.NotZero(t, accepted.Receive().Number)
			}
			stop()
			synctest.Wait()
		}
		actor.Spawn(s, delivery.Producer[int](delivery.WithQueue(deliveryqueue.New("orders", j))), "last").
			Tell(delivery.Connect[int]{Consumer: consumer})
		for i := 1; i <= 35; i++ {
			got.Expect(i)
		}
	})
}

func TestANewProducerFencesTheOneBeforeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s := journal.NewMemory(), testkit.NewSystem(t, testkit.WithoutEncoding())
		watch, letters := testkit.NewProbe[int](t, s), testkit.NewProbe[actor.DeadLetter](t, s)
		actor.Subscribe(s, letters.Ref())
		first := produce(s, j, "first")
		synctest.Wait()
		second := produce(s, j, "second")
		synctest.Wait()
		first.Tell(delivery.Send[int]{Message: 1})
		watch.ExpectTerminated(first)
		require.Equal(t, 1, letters.Receive().Message)
		second.Tell(delivery.Send[int]{Message: 2})
		got := testkit.NewProbe[int](t, s)
		second.Tell(delivery.Connect[int]{Consumer: actor.Spawn(s, delivery.Consumer(worker(got, 9)), "")})
		got.Expect(2)
	})
}

func TestWhatHasBeenConfirmedIsDeleted(t *testing.T) {
	j, ctx := journal.NewMemory(), t.Context()
	q := deliveryqueue.New("orders", j)
	_, _, err := q.Load(ctx)
	require.NoError(t, err)
	payload, err := extension.Pack("x")
	require.NoError(t, err)
	require.NoError(t, q.Append(ctx, 1, []extension.Payload{payload, payload, payload}))
	require.NoError(t, q.Settle(ctx, 2, nil))
	require.NoError(t, q.Append(ctx, 4, []extension.Payload{payload}))
	next := deliveryqueue.New("orders", j)
	upTo, rest, err := next.Load(ctx)
	require.NoError(t, err)
	require.EqualValues(t, 2, upTo)
	require.Len(t, rest, 2)
	require.ErrorIs(t, q.Settle(ctx, 3, nil), persistence.ErrFenced)
	require.NoError(t, next.Settle(ctx, 4, nil))
	claim, err := j.Claim(ctx, "orders", journal.WriterID{}, journal.Bounds{})
	require.NoError(t, err)
	require.EqualValues(t, 5, claim.DeletedTo, "all but what says so")
	upTo, rest, err = deliveryqueue.New("orders", j).Load(ctx)
	require.NoError(t, err)
	require.EqualValues(t, 4, upTo)
	require.Empty(t, rest)
}

func TestTwoProducersWithOneQueueDoNotMixTheirMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s := journal.NewMemory(), testkit.NewSystem(t, testkit.WithoutEncoding())
		shared := delivery.WithQueue(deliveryqueue.New("orders", j))
		var producers []actor.ActorRef[delivery.Command[int]]
		for range 2 {
			producers = append(producers, actor.Spawn(s, delivery.Producer[int](shared), ""))
		}
		synctest.Wait()
		for i := range 100 {
			producers[i%2].Tell(delivery.Send[int]{Message: i})
		}
		synctest.Wait()
		_, rest, err := deliveryqueue.New("orders", j).Load(t.Context())
		require.NoError(t, err)
		require.Len(t, rest, 50, "the other one has failed")
		first, err := extension.Unpack(nil, rest[0])
		require.NoError(t, err)
		for i, p := range rest {
			v, err := extension.Unpack(nil, p)
			require.NoError(t, err)
			require.Equal(t, first.(int)+2*i, v)
		}
	})
}

func TestWhatWasConfirmedBeforeOthersIsNotLoadedAgain(t *testing.T) {
	j, ctx := journal.NewMemory(), t.Context()
	q := deliveryqueue.New("orders", j)
	_, _, err := q.Load(ctx)
	require.NoError(t, err)
	var payloads []extension.Payload
	for i := range 6 {
		p, err := extension.Pack(i + 1)
		require.NoError(t, err)
		payloads = append(payloads, p)
	}
	require.NoError(t, q.Append(ctx, 1, payloads))
	require.NoError(t, q.Settle(ctx, 0, []uint64{3, 5}))
	require.ErrorIs(t, q.Settle(ctx, 1, []uint64{7}), persistence.ErrInvalid)
	require.NoError(t, q.Settle(ctx, 1, nil))
	for range 2 {
		q = deliveryqueue.New("orders", j)
		upTo, rest, err := q.Load(ctx)
		require.NoError(t, err)
		require.EqualValues(t, 1, upTo)
		require.Equal(t, []extension.Payload{payloads[1], {}, payloads[3], {}, payloads[5]}, rest)
	}
	require.NoError(t, q.Settle(ctx, 3, []uint64{6}))
	upTo, rest, err := deliveryqueue.New("orders", j).Load(ctx)
	require.NoError(t, err)
	require.EqualValues(t, 3, upTo)
	require.Equal(t, []extension.Payload{payloads[3], {}, {}}, rest)
}

// A slow journal appends when it is allowed to.
type slow struct {
	persistence.Journal
	allowed chan error
}

func (j slow) Append(ctx context.Context, reqs []journal.AppendRequest) []error {
	if err := <-j.allowed; err != nil {
		return []error{err}
	}
	return j.Journal.Append(ctx, reqs)
}

func TestAnOperationThatWaitsForAnotherEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := slow{journal.NewMemory(), make(chan error)}
		q := deliveryqueue.New("orders", j)
		_, _, err := q.Load(t.Context())
		require.NoError(t, err)
		payload, err := extension.Pack("x")
		require.NoError(t, err)
		done := make(chan error)
		go func() { done <- q.Append(t.Context(), 1, []extension.Payload{payload}) }()
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		go func() { done <- q.Settle(ctx, 1, nil) }()
		synctest.Wait()
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
		j.allowed <- nil
		require.NoError(t, <-done)
		require.ErrorIs(t, q.Append(ctx, 2, []extension.Payload{payload}), context.Canceled)
		require.ErrorIs(t, q.Append(t.Context(), 3, []extension.Payload{payload}), persistence.ErrInvalid)
		require.ErrorIs(t, q.Settle(t.Context(), 2, nil), persistence.ErrInvalid)
	})
}

func TestWhatIsTooLargeForTheJournalIsRefusedAndTheRestIsStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, s := slow{journal.NewMemory(), make(chan error, 1)}, testkit.NewSystem(t, testkit.WithoutEncoding())
		letters := testkit.NewProbe[actor.DeadLetter](t, s)
		actor.Subscribe(s, letters.Ref())
		accepted := testkit.NewProbe[delivery.Accepted](t, s)
		got := testkit.NewProbe[int](t, s)
		producer := produce(s, j, "producer")
		producer.Tell(delivery.Connect[int]{Consumer: actor.Spawn(s, delivery.Consumer(worker(got, 0)), "")})
		j.allowed <- fmt.Errorf("%w: of a megabyte", persistence.ErrTooLarge)
		producer.Tell(delivery.Send[int]{Message: 1, ReplyTo: accepted.Ref()})
		accepted.Expect(delivery.Accepted{})
		require.ErrorIs(t, letters.Receive().Reason, delivery.ErrNotStorable)
		j.allowed <- nil
		producer.Tell(delivery.Send[int]{Message: 2, ReplyTo: accepted.Ref()})
		accepted.Expect(delivery.Accepted{Number: 1})
		got.Expect(2)
	})
}

func ExampleNew() {
	store := journal.NewMemory() // in earnest, one that outlives the process
	system := actor.NewSystem("shop")
	orders := actor.Spawn(system, delivery.Producer[string](delivery.WithQueue(deliveryqueue.New("orders", store))), "orders")
	done := make(chan struct{})
	billing := behaviors.Receive(func(_ *actor.Context[delivery.Delivery[string]], d delivery.Delivery[string]) actor.Behavior[delivery.Delivery[string]] {
		fmt.Println("billed", d.Message)
		d.Confirm()
		close(done)
		return behaviors.Same
	})
	orders.Tell(delivery.Connect[string]{Consumer: actor.Spawn(system, delivery.Consumer(billing), "billing")})
	orders.Tell(delivery.Send[string]{Message: "books"})
	<-done
	// Output: billed books
}
