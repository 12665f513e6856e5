package postgres

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence"
)

func jobs(t *testing.T, q *queue, ids ...string) []*job {
	var all []*job
	for _, id := range ids {
		all = append(all, &job{id: id, weight: 1, done: make(chan struct{})})
	}
	q.submit(t.Context(), all...)
	return all
}

func names(jobs []*job) (names string) {
	for _, j := range jobs {
		names += j.id
	}
	return names
}

func TestAGroupHasOneJobOfEachIDAndKeepsTheirOrder(t *testing.T) {
	q := newQueue()
	all := jobs(t, q, "a", "b", "a", "c", "a", "b")
	first, second, third := q.take(10), q.take(10), q.take(10)
	require.Equal(t, []*job{all[0], all[1], all[3]}, first)
	require.Equal(t, []*job{all[2], all[5]}, second)
	require.Equal(t, []*job{all[4]}, third)
	require.Empty(t, q.take(10))
}

func TestAGroupWeighsNoMoreThanItMayButHasOneJob(t *testing.T) {
	q := newQueue()
	all := jobs(t, q, "a", "b", "c", "b", "d")
	all[1].weight = 5
	require.Equal(t, "ac", names(q.take(3))[:2], "a lighter one of another id may go before")
	require.Equal(t, "b", names(q.take(3)))
	require.Equal(t, "b", names(q.take(1)))
}

func TestAJobIsWithdrawnBeforeItIsTakenAndNotAfter(t *testing.T) {
	q := newQueue()
	all := jobs(t, q, "a", "b")
	q.take(1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, q.await(ctx, all[0]), persistence.ErrUnknown)
	require.ErrorIs(t, q.await(ctx, all[1]), persistence.ErrUnavailable)
	require.ErrorIs(t, q.await(ctx, all[1]), context.Canceled)
	require.Empty(t, q.takeAll())
}

func TestAClosedQueueAnswers(t *testing.T) {
	q := newQueue()
	waiting := jobs(t, q, "a")
	q.close()
	late := jobs(t, q, "b")
	for _, j := range append(waiting, late...) {
		require.ErrorIs(t, q.await(t.Context(), j), persistence.ErrClosed)
	}
}

// What the statements do with single bits is what writing the head anew would do.
func TestTheChecksumOfAHeadChangesBitByBit(t *testing.T) {
	for _, id := range []string{"", "x", "a longer id"} {
		for _, c := range [][2]uint64{{0, 1}, {7, 8}, {1, 1 << 40}, {1<<63 - 2, 1<<63 - 1}} {
			before := head{id: id, epoch: 3, seq: c[0], deletedTo: 2}
			after := before
			after.seq = c[1]
			require.Equal(t, after.checksum(), before.checksum()^advance(c[0], c[1]), fmt.Sprint(id, c))
		}
	}
}
