// Package group implements group commit: jobs that are queued during one commit are committed
// together by the next, so that the rate grows with the number of writers. The journals in
// databases use it.
//
// Goroutines call [Queue.Do]; one goroutine runs [Queue.Serve].
package group

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

	done chan struct{} // closed when Err is final
}

// Fail sets the outcome of all jobs to err.
func Fail[W any](jobs []*Job[W], err error) {
	for _, j := range jobs {
		j.Err = err
	}
}

// finish wakes the goroutines that wait for jobs.
func finish[W any](jobs []*Job[W]) {
	for _, j := range jobs {
		close(j.done)
	}
}
