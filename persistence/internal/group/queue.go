package group

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/understudy-go/understudy/persistence/journal"
)

// A Queue has the jobs that no commit has taken yet. Create one with [NewQueue].
type Queue[W any] struct {
	mu      sync.Mutex // guards all but wake
	jobs    []*Job[W]
	keys    map[string]bool // of the jobs that are being committed
	groups  int             // that are being committed
	closed  bool
	blocked error
	wake    chan struct{} // has an element if there may be jobs; closed with the queue
}

// NewQueue returns an empty queue.
func NewQueue[W any]() *Queue[W] {
	return &Queue[W]{wake: make(chan struct{}, 1), keys: map[string]bool{}}
}

// Do queues jobs next to each other, waits until they are committed, and returns the outcome of
// each, in order. It skips nil jobs.
//
// If ctx is done before a job was taken, the job is not committed and its outcome is
// [journal.ErrUnavailable]. If it has been taken, the commit continues and the outcome is
// [journal.ErrUnknown]. After Close the outcome is [journal.ErrClosed].
func (q *Queue[W]) Do(ctx context.Context, jobs ...*Job[W]) []error {
	q.submit(ctx, slices.DeleteFunc(slices.Clone(jobs), func(j *Job[W]) bool { return j == nil }))
	errs := make([]error, len(jobs))
	for i, j := range jobs {
		if j != nil {
			errs[i] = q.await(ctx, j)
		}
	}
	return errs
}

// Submit queues a job, and returns at once. When the job is committed, done is called with its
// outcome, once, by any goroutine, perhaps before Submit returns; it must not block.
func (q *Queue[W]) Submit(j *Job[W], done func(err error)) {
	j.queue, j.notify = q, done
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		j.answer(journal.ErrClosed)
		return
	}
	q.jobs = append(q.jobs, j)
	q.signal()
	q.mu.Unlock()
}

// submit queues jobs, or finishes them if the queue is closed or ctx is done.
func (q *Queue[W]) submit(ctx context.Context, jobs []*Job[W]) {
	for _, j := range jobs {
		j.done = make(chan struct{})
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed:
		Fail(jobs, journal.ErrClosed)
		finish(jobs)
	case ctx.Err() != nil:
		Fail(jobs, unavailable(ctx.Err()))
		finish(jobs)
	case len(jobs) > 0:
		q.jobs = append(q.jobs, jobs...)
		q.signal()
	}
}

// await returns the outcome of a submitted job. If ctx is done first, it withdraws the job.
func (q *Queue[W]) await(ctx context.Context, j *Job[W]) error {
	select {
	case <-j.done:
		return j.Err
	case <-ctx.Done():
	}
	if q.withdraw(j) {
		return q.unavailable(ctx.Err())
	}
	select { // it was taken, and may be committed by now
	case <-j.done:
		return j.Err
	default:
		return unknown(ctx.Err())
	}
}

// withdraw removes j from the queue. It reports false if j has been taken already.
func (q *Queue[W]) withdraw(j *Job[W]) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.jobs, j)
	if i < 0 {
		return false
	}
	q.jobs = slices.Delete(q.jobs, i, i+1)
	return true
}

// Close finishes the jobs in the queue with [journal.ErrClosed], refuses new ones, and ends Serve.
func (q *Queue[W]) Close() {
	q.mu.Lock()
	q.closed = true
	jobs := q.jobs
	q.jobs = nil
	close(q.wake)
	q.mu.Unlock()
	Fail(jobs, journal.ErrClosed)
	finish(jobs)
}

// beside is how many jobs must wait for a group that begins while another one is committed. A
// commit has costs that do not depend on the number of its jobs.
const beside = 256

// ready reports whether a group may begin.
func (q *Queue[W]) ready() bool { return len(q.jobs) >= beside || len(q.jobs) > 0 && q.groups == 0 }

// signal wakes Serve if a group may begin. A closed queue has no jobs.
func (q *Queue[W]) signal() {
	if !q.ready() {
		return
	}
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Blocked says why turn waits; nil ends that. Jobs that are withdrawn meanwhile have it in their
// errors.
func (q *Queue[W]) Blocked(why error) {
	q.mu.Lock()
	q.blocked = why
	q.mu.Unlock()
}

func (q *Queue[W]) unavailable(cause error) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.blocked != nil {
		cause = fmt.Errorf("%w: %w", q.blocked, cause)
	}
	return unavailable(cause)
}

func unavailable(cause error) error { return fmt.Errorf("%w: %w", journal.ErrUnavailable, cause) }

func unknown(cause error) error { return fmt.Errorf("%w: %w", journal.ErrUnknown, cause) }
