package group

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/journal"
)

const bound = 8

// A fakeStore is slow, and records which jobs were committed together.
type fakeStore struct {
	waiting, committing time.Duration
	err                 error

	mu     sync.Mutex // guards groups
	groups []string
}

func (s *fakeStore) turn(take func() []*Job[string]) error {
	time.Sleep(s.waiting)
	if s.err != nil {
		return s.err
	}
	jobs := take()
	if len(jobs) == 0 {
		return nil
	}
	time.Sleep(s.committing)
	group := ""
	for _, j := range jobs {
		group += j.Work
		if j.Work == "x" {
			j.Err = errors.New("spoilt")
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.groups = append(s.groups, group)
	return nil
}

// withQueue runs f in a bubble with a queue that is served, and closes it after.
func withQueue(t *testing.T, s *fakeStore, f func(t *testing.T, q *Queue[string])) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue[string]()
		var committer sync.WaitGroup
		committer.Go(func() { q.Serve(bound, s.turn) })
		defer committer.Wait()
		defer q.Close()
		f(t, q)
	})
}

// light returns jobs that weigh one each.
func light(works string) (jobs []*Job[string]) {
	for _, work := range works {
		jobs = append(jobs, &Job[string]{Work: string(work), Weight: 1})
	}
	return jobs
}

// keyed returns jobs whose key is their work.
func keyed(works string) []*Job[string] {
	jobs := light(works)
	for _, j := range jobs {
		j.Key = j.Work
	}
	return jobs
}

// afterAnHour returns when everything in progress has ended.
func afterAnHour() {
	time.Sleep(time.Hour)
	synctest.Wait()
}

func requireNoErrors(t *testing.T, errs []error) {
	t.Helper()
	for _, err := range errs {
		require.NoError(t, err)
	}
}

func TestWhatQueuesUpDuringACommitIsCommittedTogether(t *testing.T) {
	s := &fakeStore{committing: time.Second}
	withQueue(t, s, func(t *testing.T, q *Queue[string]) {
		var callers sync.WaitGroup
		errs := make([]error, 4)
		for i, job := range light("abcd") {
			callers.Go(func() { errs[i] = q.Do(t.Context(), job)[0] })
			synctest.Wait()
		}
		callers.Wait()
		requireNoErrors(t, errs)
		require.Equal(t, []string{"a", "bcd"}, s.groups)
	})
}

func TestAGroupIsBoundedByItsWeightButHasOneJob(t *testing.T) {
	s := &fakeStore{}
	withQueue(t, s, func(t *testing.T, q *Queue[string]) {
		jobs := light("abcdef")
		jobs[0].Weight, jobs[1].Weight, jobs[3].Weight = bound/2, bound/2, 5*bound
		requireNoErrors(t, q.Do(t.Context(), jobs...))
		require.Equal(t, []string{"ab", "c", "d", "ef"}, s.groups)
	})
}

func TestAGroupHasOneJobOfEachKeyAndKeepsTheirOrder(t *testing.T) {
	s := &fakeStore{}
	withQueue(t, s, func(t *testing.T, q *Queue[string]) {
		requireNoErrors(t, q.Do(t.Context(), keyed("abacab")...))
		require.Equal(t, []string{"abc", "ab", "a"}, s.groups)
	})
}

func TestJobsWithoutAKeyAreNeverKeptApart(t *testing.T) {
	s := &fakeStore{}
	withQueue(t, s, func(t *testing.T, q *Queue[string]) {
		requireNoErrors(t, q.Do(t.Context(), light("aabab")...))
		require.Equal(t, []string{"aabab"}, s.groups)
	})
}

func TestAJobLeftBehindIsNotOvertakenByOneOfItsKey(t *testing.T) {
	s := &fakeStore{}
	withQueue(t, s, func(t *testing.T, q *Queue[string]) {
		jobs := keyed("abbc")
		jobs[0].Weight, jobs[1].Weight = bound, bound
		requireNoErrors(t, q.Do(t.Context(), jobs...))
		require.Equal(t, []string{"a", "b", "bc"}, s.groups)
	})
}

func TestEachJobHasItsOwnOutcomeAndANilOneHasNone(t *testing.T) {
	withQueue(t, &fakeStore{}, func(t *testing.T, q *Queue[string]) {
		jobs := light("axb")
		errs := q.Do(t.Context(), jobs[0], nil, jobs[1], jobs[2])
		require.Len(t, errs, 4)
		require.ErrorContains(t, errs[2], "spoilt")
		requireNoErrors(t, []error{errs[0], errs[1], errs[3]})
		require.Empty(t, q.Do(t.Context()))
	})
}

func TestAJobCalledOffBeforeItIsTakenIsNotCommitted(t *testing.T) {
	s := &fakeStore{waiting: time.Minute}
	withQueue(t, s, func(t *testing.T, q *Queue[string]) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := q.Do(ctx, light("a")...)[0]
		require.ErrorIs(t, err, journal.ErrUnavailable)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		afterAnHour()
		require.Empty(t, s.groups)
	})
}

func TestAJobCalledOffWhileTheTurnIsBlockedSaysWhy(t *testing.T) {
	s := &fakeStore{waiting: time.Minute}
	held := errors.New("held")
	withQueue(t, s, func(t *testing.T, q *Queue[string]) {
		for _, why := range []error{held, nil} {
			q.Blocked(why)
			submitted := light("a")[0]
			done := make(chan error, 1)
			q.Submit(submitted, func(err error) { done <- err })
			submitted.Cancel(context.DeadlineExceeded)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			for _, err := range []error{<-done, q.Do(ctx, light("b")...)[0]} {
				require.ErrorIs(t, err, journal.ErrUnavailable)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				require.Equal(t, why != nil, errors.Is(err, held))
			}
			cancel()
		}
	})
}

func TestAJobCalledOffBeforeItIsSubmittedIsNotCommitted(t *testing.T) {
	s := &fakeStore{}
	withQueue(t, s, func(t *testing.T, q *Queue[string]) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, q.Do(ctx, light("a")...)[0], journal.ErrUnavailable)
		afterAnHour()
		require.Empty(t, s.groups)
	})
}

func TestAJobCalledOffDuringItsCommitHasAnUnknownOutcome(t *testing.T) {
	s := &fakeStore{committing: time.Minute}
	withQueue(t, s, func(t *testing.T, q *Queue[string]) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := q.Do(ctx, light("a")...)[0]
		require.ErrorIs(t, err, journal.ErrUnknown)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotErrorIs(t, err, journal.ErrUnavailable)
		afterAnHour()
		require.Equal(t, []string{"a"}, s.groups)
	})
}

func TestAllThatWaitFailWhenThereIsNoTurnToBeHad(t *testing.T) {
	s := &fakeStore{err: errors.New("no turn")}
	withQueue(t, s, func(t *testing.T, q *Queue[string]) {
		for _, err := range q.Do(t.Context(), keyed("aab")...) {
			require.ErrorContains(t, err, "no turn")
		}
		s.err = nil
		requireNoErrors(t, q.Do(t.Context(), light("c")...))
		require.Equal(t, []string{"c"}, s.groups)
	})
}

func TestClosingAnswersWhatWaitsAndWhatComesAndLetsACommitEnd(t *testing.T) {
	s := &fakeStore{committing: time.Minute}
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue[string]()
		var all sync.WaitGroup
		all.Go(func() { q.Serve(bound, s.turn) })
		errs := make([]error, 2)
		for i, job := range light("ab") {
			all.Go(func() { errs[i] = q.Do(t.Context(), job)[0] })
			synctest.Wait()
		}
		q.Close()
		require.ErrorIs(t, q.Do(t.Context(), light("c")...)[0], journal.ErrClosed)
		all.Wait()
		require.NoError(t, errs[0])
		require.ErrorIs(t, errs[1], journal.ErrClosed)
		require.Equal(t, []string{"a"}, s.groups)
	})
}

// submitted submits a job, and returns where its outcome comes.
func submitted(q *Queue[string], j *Job[string]) chan error {
	outcome := make(chan error, 2)
	q.Submit(j, func(err error) { outcome <- err })
	return outcome
}

func TestASubmittedJobIsAnsweredOnce(t *testing.T) {
	s := &fakeStore{committing: time.Minute}
	withQueue(t, s, func(t *testing.T, q *Queue[string]) {
		good, bad := light("a")[0], light("x")[0]
		done, spoilt := submitted(q, good), submitted(q, bad)
		require.NoError(t, <-done)
		require.ErrorContains(t, <-spoilt, "spoilt")
		good.Cancel(context.DeadlineExceeded)
		afterAnHour()
		require.Empty(t, done)
		require.Empty(t, spoilt)
	})
}

func TestASubmittedJobThatIsCancelledIsCalledOff(t *testing.T) {
	s := &fakeStore{committing: time.Minute}
	withQueue(t, s, func(t *testing.T, q *Queue[string]) {
		taken, waiting := light("a")[0], light("b")[0]
		first := submitted(q, taken)
		synctest.Wait()
		second := submitted(q, waiting)
		for _, j := range []*Job[string]{taken, waiting} {
			j.Cancel(context.DeadlineExceeded)
			j.Cancel(context.Canceled)
		}
		err := <-first
		require.ErrorIs(t, err, journal.ErrUnknown)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		err = <-second
		require.ErrorIs(t, err, journal.ErrUnavailable)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		afterAnHour()
		require.Equal(t, []string{"a"}, s.groups)
		require.Empty(t, first)
		require.Empty(t, second)
	})
}

func TestASubmittedJobIsRefusedByAClosedQueue(t *testing.T) {
	q := NewQueue[string]()
	waiting := submitted(q, light("a")[0])
	q.Close()
	require.ErrorIs(t, <-waiting, journal.ErrClosed)
	require.ErrorIs(t, <-submitted(q, light("b")[0]), journal.ErrClosed)
}

// withTwo is withQueue with two goroutines that serve the queue, and groups of any size.
func withTwo(t *testing.T, turn func(take func() []*Job[string]) error, f func(t *testing.T, q *Queue[string])) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue[string]()
		var committers sync.WaitGroup
		for range 2 {
			committers.Go(func() { q.Serve(4*beside, turn) })
		}
		defer committers.Wait()
		defer q.Close()
		f(t, q)
	})
}

func TestAGroupBeginsBesideAnotherIfItHasManyJobs(t *testing.T) {
	for jobs, want := range map[int]time.Duration{beside: time.Second, beside - 1: 2 * time.Second} {
		withTwo(t, (&fakeStore{committing: time.Second}).turn, func(t *testing.T, q *Queue[string]) {
			begun := time.Now()
			submitted(q, light("a")[0])
			synctest.Wait()
			requireNoErrors(t, q.Do(t.Context(), light(strings.Repeat("b", jobs))...))
			require.Equal(t, want, time.Since(begun))
		})
	}
}

func TestAJobWaitsForTheCommitOfAnotherWithItsKey(t *testing.T) {
	withTwo(t, (&fakeStore{committing: time.Second}).turn, func(t *testing.T, q *Queue[string]) {
		begun := time.Now()
		submitted(q, keyed("a")[0])
		synctest.Wait()
		second := submitted(q, keyed("a")[0])
		requireNoErrors(t, q.Do(t.Context(), light(strings.Repeat("b", beside))...))
		require.Equal(t, time.Second, time.Since(begun))
		require.NoError(t, <-second)
		require.Equal(t, 2*time.Second, time.Since(begun))
	})
}

func TestAJobDoesNotFailForWantOfATurnWhileAnotherGroupIsCommitted(t *testing.T) {
	s := &fakeStore{committing: time.Second}
	var turns atomic.Int64
	withTwo(t, func(take func() []*Job[string]) error {
		if turns.Add(1) == 2 {
			return errors.New("no turn")
		}
		return s.turn(take)
	}, func(t *testing.T, q *Queue[string]) {
		submitted(q, light("a")[0])
		synctest.Wait()
		requireNoErrors(t, q.Do(t.Context(), light(strings.Repeat("b", beside))...))
		require.EqualValues(t, 3, turns.Load())
	})
}
