package sqlite

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence"
)

// A fakeStore takes its time, and notes what was committed together.
type fakeStore struct {
	locking, running time.Duration
	lockErr          error
	groups           []int
}

func (s *fakeStore) lock(ctx context.Context) error {
	select {
	case <-time.After(s.locking):
		return s.lockErr
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *fakeStore) run(jobs []*job) {
	if len(jobs) == 0 {
		return
	}
	time.Sleep(s.running)
	for _, j := range jobs {
		j.err = j.apply(nil)
	}
	s.groups = append(s.groups, len(jobs))
}

func (s *fakeStore) unlock() {}

// withCommitter runs f in a bubble with a committer at work, which it ends after.
func withCommitter(t *testing.T, s *fakeStore, f func(t *testing.T, q *queue)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		q := newQueue()
		var committer sync.WaitGroup
		committer.Go(func() { commitAll(ctx, q, s) })
		defer committer.Wait()
		defer stop()
		f(t, q)
	})
}

func noop(*transaction) error { return nil }

func TestWhatQueuesUpDuringACommitIsCommittedTogether(t *testing.T) {
	s := &fakeStore{running: time.Millisecond}
	withCommitter(t, s, func(t *testing.T, q *queue) {
		var order []int
		var jobs []*job
		for i := range 40 {
			jobs = append(jobs, newJob(1, func(*transaction) error { order = append(order, i); return nil }))
			q.submit(t.Context(), jobs[i])
			if i == 0 {
				synctest.Wait()
			}
		}
		for _, j := range jobs {
			require.NoError(t, q.await(t.Context(), j))
		}
		require.Equal(t, []int{1, 39}, s.groups)
		require.IsIncreasing(t, order)
	})
}

func TestAGroupIsBoundedByItsWeight(t *testing.T) {
	s := &fakeStore{running: time.Millisecond}
	withCommitter(t, s, func(t *testing.T, q *queue) {
		var jobs []*job
		for _, weight := range []int{groupWeight / 2, groupWeight / 2, 1, 5 * groupWeight, 1} {
			jobs = append(jobs, newJob(weight, noop))
		}
		q.submit(t.Context(), jobs...)
		for _, j := range jobs {
			require.NoError(t, q.await(t.Context(), j))
		}
		require.Equal(t, []int{2, 1, 1, 1}, s.groups)
	})
}

func TestAJobCalledOffBeforeItIsTakenIsNotApplied(t *testing.T) {
	s := &fakeStore{locking: time.Minute}
	withCommitter(t, s, func(t *testing.T, q *queue) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		applied := false
		j := newJob(1, func(*transaction) error { applied = true; return nil })
		q.submit(ctx, j)
		err := q.await(ctx, j)
		require.ErrorIs(t, err, persistence.ErrUnavailable)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		time.Sleep(time.Hour)
		require.False(t, applied)
	})
}

func TestAJobCalledOffDuringItsCommitHasAnUnknownOutcome(t *testing.T) {
	s := &fakeStore{running: time.Minute}
	withCommitter(t, s, func(t *testing.T, q *queue) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		applied := false
		j := newJob(1, func(*transaction) error { applied = true; return nil })
		q.submit(ctx, j)
		err := q.await(ctx, j)
		require.ErrorIs(t, err, persistence.ErrUnknown)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotErrorIs(t, err, persistence.ErrUnavailable)
		<-j.done
		require.True(t, applied)
	})
}

func TestJobsFailWhenThereIsNoTurnToBeHad(t *testing.T) {
	s := &fakeStore{lockErr: errors.New("no turn")}
	withCommitter(t, s, func(t *testing.T, q *queue) {
		j := newJob(1, noop)
		q.submit(t.Context(), j)
		require.ErrorContains(t, q.await(t.Context(), j), "no turn")
		s.lockErr = nil
		again := newJob(1, noop)
		q.submit(t.Context(), again)
		require.NoError(t, q.await(t.Context(), again))
	})
}

func TestClosingAnswersWhatWaitsAndWhatComes(t *testing.T) {
	s := &fakeStore{running: time.Minute}
	withCommitter(t, s, func(t *testing.T, q *queue) {
		underWay, waiting, late := newJob(1, noop), newJob(1, noop), newJob(1, noop)
		q.submit(t.Context(), underWay)
		synctest.Wait()
		q.submit(t.Context(), waiting)
		q.close()
		q.submit(t.Context(), late)
		require.ErrorIs(t, q.await(t.Context(), waiting), persistence.ErrClosed)
		require.ErrorIs(t, q.await(t.Context(), late), persistence.ErrClosed)
		require.NoError(t, q.await(t.Context(), underWay))
	})
}
