package group

import "sync"

// An answerer answers the jobs of one group after the other. The zero value is ready for use.
type answerer[W any] struct {
	groups  chan []*Job[W] // to the other goroutine; nil until it is needed
	pending sync.WaitGroup // the groups that it has
	running sync.WaitGroup // the goroutine
}

func (a *answerer[W]) answer(jobs []*Job[W], hurry bool) {
	if !hurry {
		a.pending.Wait() // which have to be answered first
		finish(jobs)
		return
	}
	if a.groups == nil {
		a.groups = make(chan []*Job[W], 1)
		a.running.Go(func() {
			for jobs := range a.groups {
				finish(jobs)
				a.pending.Done()
			}
		})
	}
	a.pending.Add(1)
	a.groups <- jobs
}

// end answers what is left, and ends the goroutine.
func (a *answerer[W]) end() {
	if a.groups != nil {
		close(a.groups)
		a.running.Wait()
	}
}
