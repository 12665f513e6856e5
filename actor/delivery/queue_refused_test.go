package delivery_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/delivery"
	behaviors "github.com/understudy-go/understudy/behavior"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/persistence"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/testkit"
)

// refused is a refused message in the form that a producer passes to a queue.
func refused(t *testing.T, number uint64, parts ...string) delivery.Refused {
	t.Helper()
	r := delivery.Refused{Number: number, Reason: fmt.Sprintf("reason %d", number), Time: time.Unix(int64(number), 0).UTC()}
	records := make([]extension.Payload, len(parts))
	for i, part := range parts {
		var err error
		records[i], err = extension.Pack(part)
		require.NoError(t, err)
	}
	return delivery.RefusedOf(r, records)
}

func numbers(messages []delivery.Refused) (numbers []uint64) {
	for _, m := range messages {
		numbers = append(numbers, m.Number)
	}
	return numbers
}

func TestWhatWasRefusedStaysUntilItIsRemoved(t *testing.T) { refusedStays(t, journal.NewMemory()) }

func refusedStays(t *testing.T, j persistence.Journal) {
	t.Helper()
	ctx := t.Context()
	q := delivery.NewQueue("orders", j)
	none, err := q.List(ctx)
	require.NoError(t, err)
	require.Empty(t, none)
	large := strings.Repeat("x", 200<<10)
	want := []delivery.Refused{refused(t, 2, "a"), refused(t, 3, "b"), refused(t, 9, large, large, large, "end")}
	require.NoError(t, delivery.StoreOf(q).Refuse(ctx, want[:2]))
	require.NoError(t, delivery.StoreOf(q).Refuse(ctx, want[1:]), "one that is there stays as it is")
	operator := delivery.NewQueue("orders", j) // of another process
	got, err := operator.List(ctx)
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.NoError(t, operator.Remove(ctx, 3, 77))
	require.NoError(t, delivery.StoreOf(q).Refuse(ctx, []delivery.Refused{refused(t, 10, "c")}), "the operator has taken over nothing")
	require.NoError(t, q.Remove(ctx, 2))
	got, err = delivery.NewQueue("orders", j).List(ctx)
	require.NoError(t, err)
	require.Equal(t, []uint64{9, 10}, numbers(got))
	require.Equal(t, want[2], got[0])
}

func TestAQueueKeepsNoMoreRefusedMessagesThanItMay(t *testing.T) {
	require.Panics(t, func() { delivery.MaxRefused(0) })
	ctx := t.Context()
	q := delivery.NewQueue("orders", journal.NewMemory(), delivery.MaxRefused(2))
	require.NoError(t, delivery.StoreOf(q).Refuse(ctx, []delivery.Refused{refused(t, 1, "a")}))
	err := delivery.StoreOf(q).Refuse(ctx, []delivery.Refused{refused(t, 1, "a"), refused(t, 2, "b"), refused(t, 3, "c")})
	require.ErrorIs(t, err, delivery.ErrRefusedFull)
	require.ErrorContains(t, err, "MaxRefused is 2")
	require.NoError(t, delivery.StoreOf(q).Refuse(ctx, []delivery.Refused{refused(t, 1, "a"), refused(t, 2, "b")}))
	require.NoError(t, q.Remove(ctx, 1))
	require.NoError(t, delivery.StoreOf(q).Refuse(ctx, []delivery.Refused{refused(t, 3, "c")}))
	got, err := q.List(ctx)
	require.NoError(t, err)
	require.Equal(t, []uint64{2, 3}, numbers(got))
}

func TestWhatWasRemovedTakesNoRoomForEver(t *testing.T) {
	j, ctx := journal.NewMemory(), t.Context()
	q := delivery.NewQueue("orders", j)
	first := refused(t, 1, "in the way", "of the others")
	require.NoError(t, delivery.StoreOf(q).Refuse(ctx, []delivery.Refused{first}))
	for n := uint64(2); n < 2000; n++ {
		require.NoError(t, delivery.StoreOf(q).Refuse(ctx, []delivery.Refused{refused(t, n, "x")}))
		require.NoError(t, q.Remove(ctx, n))
	}
	claim, err := j.Claim(ctx, "orders/refused", journal.WriterID{}, journal.Bounds{})
	require.NoError(t, err)
	require.Less(t, claim.LastSeq-claim.DeletedTo, uint64(1100))
	got, err := q.List(ctx)
	require.NoError(t, err)
	require.Equal(t, []delivery.Refused{first}, got)
	require.NoError(t, q.Remove(ctx, 1))
	claim, err = j.Claim(ctx, "orders/refused", journal.WriterID{}, journal.Bounds{})
	require.NoError(t, err)
	require.EqualValues(t, 1, claim.LastSeq-claim.DeletedTo)
}

// A torn journal fails at the append of a number.
type torn struct {
	persistence.Journal
	left *int
}

func (j torn) Append(ctx context.Context, reqs []journal.AppendRequest) []error {
	if *j.left--; *j.left < 0 {
		return []error{persistence.ErrClosed}
	}
	return j.Journal.Append(ctx, reqs)
}

func TestAMessageThatIsNotStoredAsAWholeWasNotRefused(t *testing.T) {
	ctx, large := t.Context(), strings.Repeat("x", 200<<10)
	for left := range 3 {
		j := journal.NewMemory()
		m := refused(t, 1, large, large, large)
		require.ErrorIs(t, delivery.StoreOf(delivery.NewQueue("orders", torn{j, &left})).Refuse(ctx, []delivery.Refused{m}), persistence.ErrClosed)
		q := delivery.NewQueue("orders", j)
		got, err := q.List(ctx)
		require.NoError(t, err)
		require.Empty(t, got)
		require.NoError(t, delivery.StoreOf(q).Refuse(ctx, []delivery.Refused{m, refused(t, 2, "y")}))
		got, err = q.List(ctx)
		require.NoError(t, err)
		require.Equal(t, []delivery.Refused{m, refused(t, 2, "y")}, got)
	}
}

func TestAnIDThatHasNoRoomForRefusedMessagesIsRefused(t *testing.T) {
	_, _, err := delivery.StoreOf(delivery.NewQueue(strings.Repeat("x", journal.MaxIDLength), journal.NewMemory())).Load(t.Context())
	require.ErrorIs(t, err, persistence.ErrInvalid)
}

func TestWhatNobodyHasHandledSurvivesTheProducerAndIsSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := journal.NewMemory()
		first := actor.NewSystem("first")
		told := testkit.NewProbe[delivery.Confirmed](t, first)
		broken := behaviors.Supervise(behaviors.Receive(func(ctx *actor.Context[delivery.Delivery[int]], d delivery.Delivery[int]) actor.Behavior[delivery.Delivery[int]] {
			if d.Message != 2 {
				return ctx.Fail(fmt.Errorf("no %d", d.Message))
			}
			d.Confirm()
			return behaviors.Same
		}), actor.Strategy{})
		producer := produce(first, j, "producer")
		producer.Tell(delivery.Connect[int]{Consumer: actor.Spawn(first, delivery.Consumer(broken, delivery.Attempts(1)), "consumer")})
		for i := 1; i <= 3; i++ {
			producer.Tell(delivery.Send[int]{Message: i, ConfirmTo: told.Ref()})
		}
		require.ErrorContains(t, told.Receive().Reason, "no 1")
		told.Expect(delivery.Confirmed{Number: 2})
		require.EqualValues(t, 3, told.Receive().Refused)
		synctest.Wait() // what is confirmed and not stored yet would be sent again
		require.NoError(t, first.Shutdown(t.Context()))

		s := testkit.NewSystem(t)
		queue := delivery.NewQueue("orders", j)
		settled, rest, err := delivery.StoreOf(queue).Load(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, 3, settled)
		require.Empty(t, rest)
		kept, err := queue.List(t.Context())
		require.NoError(t, err)
		require.Equal(t, []uint64{1, 3}, numbers(kept), "what is settled and not here was confirmed")
		got := testkit.NewProbe[int](t, s)
		producer = actor.Spawn(s, delivery.Producer[int](delivery.WithQueue(queue)), "producer")
		producer.Tell(delivery.Connect[int]{Consumer: actor.Spawn(s, delivery.Consumer(worker(got, 9)), "consumer")})
		for _, r := range kept {
			producer.Tell(delivery.Resend[int]{Number: r.Number})
		}
		got.Expect(1)
		got.Expect(3)
		synctest.Wait()
		kept, err = queue.List(t.Context())
		require.NoError(t, err)
		require.Empty(t, kept)
		_, rest, err = delivery.StoreOf(delivery.NewQueue("orders", j)).Load(t.Context())
		require.NoError(t, err)
		require.Empty(t, rest)
	})
}
