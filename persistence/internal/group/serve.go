package group

import (
	"sync"
)

// Serve runs the loop of a committing goroutine. It returns when the queue is closed and the
// current commit has ended.
//
// For each group it calls turn. First, turn acquires the resources for a commit. Then turn calls
// take for the jobs, commits them, and sets the outcome of each. The jobs from take have a total
// weight of at most weight, but take returns at least one job if any is queued. Jobs can be
// withdrawn with a definite outcome until they are taken, so turn must not wait after it has called
// take.
//
// If turn returns an error, it must not have taken jobs; all queued jobs fail with the error.
//
// Several goroutines may run Serve, so that one group is prepared while another one is committed.
// With many jobs they work at the same time, and otherwise one after the other: then take returns
// nothing, and an error fails no jobs, while another goroutine commits. No two groups have jobs
// with one key at the same time.
//
// Each goroutine answers its jobs in order. While others wait, one more goroutine does so, because
// an answer takes time from the next commit.
func (q *Queue[W]) Serve(weight int, turn func(take func() []*Job[W]) error) {
	var a answerer[W]
	defer a.end()
	for range q.wake {
		var jobs []*Job[W]
		err := turn(func() []*Job[W] {
			jobs = q.take(weight)
			return jobs
		})
		if err != nil {
			jobs = q.takeAll()
			Fail(jobs, err)
		}
		if len(jobs) > 0 {
			a.answer(jobs, q.committed(jobs))
		}
	}
}

// take removes the jobs of the next group: the first ones whose total weight is at most weight. It
// takes only the first of several jobs with the same key, and none whose key is being committed. It
// leaves the others in order.
func (q *Queue[W]) take(weight int) []*Job[W] {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.ready() {
		return nil
	}
	var taken, left []*Job[W]
	for i, j := range q.jobs {
		if q.keys[j.Key] {
			left = append(left, j)
			continue
		}
		if len(taken) > 0 && j.Weight > weight {
			left = append(left, q.jobs[i:]...)
			break
		}
		if j.Key != "" {
			q.keys[j.Key] = true
		}
		weight -= j.Weight
		taken = append(taken, j)
	}
	q.jobs = left
	if len(taken) > 0 {
		q.groups++
		q.signal()
	}
	return taken
}

// takeAll removes all jobs, unless another goroutine commits and will take them.
func (q *Queue[W]) takeAll() []*Job[W] {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.groups > 0 {
		return nil
	}
	jobs := q.jobs
	q.jobs = nil
	if len(jobs) > 0 {
		q.groups++
	}
	return jobs
}

// committed reports whether jobs wait after a group has been committed.
func (q *Queue[W]) committed(group []*Job[W]) (more bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.groups--
	for _, j := range group {
		delete(q.keys, j.Key)
	}
	q.signal()
	return len(q.jobs) > 0
}

// An answerer answers the jobs of one group after the other. The zero value is ready for use.
type answerer[W any] struct {
	groups  chan []*Job[W] // to the other goroutine; nil until it is needed
	pending sync.WaitGroup // the groups that it has
	running sync.WaitGroup // the goroutine
}

func (a *answerer[W]) answer(jobs []*Job[W], hurry bool) {
	if !hurry {
		a.pending.Wait() // jobs are answered in the order of their commits
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
	// One group may wait. A committer that is further ahead blocks here, so answers keep up with
	// it.
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
