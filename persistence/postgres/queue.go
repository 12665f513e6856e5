package postgres

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/understudy-go/understudy/persistence"
)

// A job is an append request that waits for its commit.
type job struct {
	id          string
	epoch, prev uint64
	rows        []eventRow
	weight      int
	err         error // the outcome, to be read when done is closed
	done        chan struct{}
}

func (j *job) last() uint64 { return j.prev + uint64(len(j.rows)) }

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

// A queue holds the jobs that no commit has taken yet.
type queue struct {
	mu     sync.Mutex // guards jobs and closed
	jobs   []*job
	closed bool
	wake   chan struct{} // has an element when there may be jobs, is closed with the queue
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
	case len(jobs) > 0:
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
// there is any. Of one id it takes the first only: the next one's condition holds once
// that is committed.
func (q *queue) take(limit int) []*job {
	q.mu.Lock()
	defer q.mu.Unlock()
	var taken, left []*job
	ids := make(map[string]bool, len(q.jobs))
	weight := 0
	for _, j := range q.jobs {
		if ids[j.id] || len(taken) > 0 && weight+j.weight > limit {
			ids[j.id] = true // those after it stay behind it
			left = append(left, j)
			continue
		}
		ids[j.id] = true
		weight += j.weight
		taken = append(taken, j)
	}
	if q.jobs = left; len(left) > 0 {
		q.signal()
	}
	return taken
}

// takeAll removes all jobs.
func (q *queue) takeAll() []*job {
	q.mu.Lock()
	defer q.mu.Unlock()
	jobs := q.jobs
	q.jobs = nil
	return jobs
}

// close finishes what has not been taken and refuses what comes.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	fail(q.jobs, persistence.ErrClosed)
	finish(q.jobs)
	q.jobs = nil
	close(q.wake)
}

// signal must not come after close: there are no jobs then.
func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// clamp returns a sequence number as the database knows it; there are none beyond.
func clamp(seq uint64) int64 { return int64(min(seq, math.MaxInt64)) }
