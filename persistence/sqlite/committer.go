package sqlite

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/understudy-go/understudy/persistence"
)

// groupWeight bounds how much one transaction commits, and so how long other processes
// wait for their turn.
const groupWeight = 1024

// A job is one change of the database. It is applied in a transaction together with
// others, wholly or not at all.
type job struct {
	weight int
	apply  func(*transaction) error // may run again when a neighbour spoils the transaction
	err    error                    // the outcome, to be read when done is closed
	done   chan struct{}
}

func newJob(weight int, apply func(*transaction) error) *job {
	return &job{weight: weight, apply: apply, done: make(chan struct{})}
}

func finish(jobs []*job) {
	for _, j := range jobs {
		close(j.done)
	}
}

func fail(jobs []*job, err error) {
	for _, j := range jobs {
		j.err = err
	}
}

// A queue holds the jobs that no transaction has taken yet.
type queue struct {
	mu     sync.Mutex // guards jobs and closed
	jobs   []*job
	closed bool
	wake   chan struct{} // has an element when there may be jobs
}

func newQueue() *queue {
	return &queue{wake: make(chan struct{}, 1)}
}

// submit enqueues jobs next to each other and in their order. When that is too late it
// finishes them.
func (q *queue) submit(ctx context.Context, jobs ...*job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed:
		fail(jobs, persistence.ErrClosed)
		finish(jobs)
	case ctx.Err() != nil:
		fail(jobs, unavailable(ctx))
		finish(jobs)
	default:
		q.jobs = append(q.jobs, jobs...)
		q.signal()
	}
}

// await returns the outcome of a job that was submitted. When ctx is done first, it
// withdraws the job; one that is under way goes on, with unknown outcome.
func (q *queue) await(ctx context.Context, j *job) error {
	select {
	case <-j.done:
		return j.err
	case <-ctx.Done():
	}
	if q.withdraw(j) {
		return unavailable(ctx)
	}
	select {
	case <-j.done:
		return j.err
	default:
		return fmt.Errorf("%w: %w", persistence.ErrUnknown, ctx.Err())
	}
}

// withdraw reports whether it came before the job was taken.
func (q *queue) withdraw(j *job) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.jobs, j)
	if i < 0 {
		return false
	}
	q.jobs = slices.Delete(q.jobs, i, i+1)
	return true
}

// take removes the first jobs, as many as weigh no more than limit, but at least one if
// there is any.
func (q *queue) take(limit int) []*job {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, weight := 0, 0
	for n < len(q.jobs) && (n == 0 || weight+q.jobs[n].weight <= limit) {
		weight += q.jobs[n].weight
		n++
	}
	taken := q.jobs[:n:n]
	q.jobs = q.jobs[n:]
	if len(q.jobs) == 0 {
		q.jobs = nil
	} else {
		q.signal()
	}
	return taken
}

// close finishes what has not been taken and refuses what comes.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	fail(q.jobs, persistence.ErrClosed)
	finish(q.jobs)
	q.jobs = nil
}

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// A store runs jobs in transactions.
type store interface {
	lock(ctx context.Context) error // waits for the right to write
	run(jobs []*job)                // applies and commits jobs, sets the outcome of each
	unlock()
}

// commitAll is the loop of the one goroutine that writes: whatever has queued up while it
// was busy or waited for its turn is committed together. It ends when ctx is done.
func commitAll(ctx context.Context, q *queue, s store) {
	for ctx.Err() == nil {
		select {
		case <-q.wake:
			finish(commitGroup(ctx, q, s))
		case <-ctx.Done():
		}
	}
}

// commitGroup takes jobs only when nothing can keep them waiting any more: until then
// they may be withdrawn, with a definite outcome.
func commitGroup(ctx context.Context, q *queue, s store) []*job {
	if err := s.lock(ctx); err != nil {
		jobs := q.take(math.MaxInt)
		fail(jobs, err)
		return jobs
	}
	defer s.unlock()
	jobs := q.take(groupWeight)
	s.run(jobs)
	return jobs
}

func unavailable(ctx context.Context) error {
	return fmt.Errorf("%w: %w", persistence.ErrUnavailable, ctx.Err())
}
