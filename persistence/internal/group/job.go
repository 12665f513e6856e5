// Package group implements group commit: jobs that are queued during one commit are committed
// together by the next, so that the rate grows with the number of writers. The journals in
// databases use it.
//
// Goroutines call [Queue.Do], or [Queue.Submit] if they do not wait; one goroutine runs
// [Queue.Serve].
package group

import "sync/atomic"

// A Job is a piece of work that is committed together with others.
type Job[W any] struct {
	Work W

	// Weight counts towards the bound of a group.
	Weight int

	// Key separates jobs: a group contains only the first of the jobs with one key, because the
	// next may depend on it. Jobs with the key "" may share a group.
	Key string

	// Err is the outcome. The committing goroutine sets it.
	Err error

	done     chan struct{} // of Do: closed when Err is final
	queue    *Queue[W]     // of Submit, as all below
	notify   func(err error)
	answered atomic.Bool // notify was called
}

// Fail sets the outcome of all jobs to err.
func Fail[W any](jobs []*Job[W], err error) {
	for _, j := range jobs {
		j.Err = err
	}
}

func finish[W any](jobs []*Job[W]) {
	for _, j := range jobs {
		if j.notify != nil {
			j.answer(j.Err)
		} else {
			close(j.done)
		}
	}
}

// answer reports the outcome of a submitted job, once.
func (j *Job[W]) answer(err error) {
	if !j.answered.Swap(true) {
		j.notify(err)
	}
}

// Cancel gives a submitted job up. Unless it is done, its outcome is the same as when the context
// of [Queue.Do] ends with cause.
func (j *Job[W]) Cancel(cause error) {
	if j.answered.Load() {
		return
	}
	if j.queue.withdraw(j) {
		j.answer(j.queue.unavailable(cause))
	} else {
		j.answer(unknown(cause))
	}
}
