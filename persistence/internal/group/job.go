// Package group lets goroutines share commits: what queues up during one commit goes into
// the next, so that the rate grows with the number of writers. The journals in databases
// write so.
//
// Goroutines [Queue.Do] jobs; one goroutine [Queue.Serve]s them.
package group

// A Job is one piece of work W. It is committed together with others.
type Job[W any] struct {
	Work W

	// Weight is how much it counts against the bound of a group.
	Weight int

	// Key keeps jobs apart: a group has the first only of those that have the same one, as
	// the next may depend on it. Jobs without a key are never kept apart.
	Key string

	// Err is the outcome. Who commits the job sets it.
	Err error

	done chan struct{} // is closed when Err is final
}

// Fail gives all of jobs the same outcome.
func Fail[W any](jobs []*Job[W], err error) {
	for _, j := range jobs {
		j.Err = err
	}
}

// finish answers those who wait for jobs.
func finish[W any](jobs []*Job[W]) {
	for _, j := range jobs {
		close(j.done)
	}
}
