package group

// Serve is the loop of the one goroutine that commits. It ends when the queue is closed and
// the commit under way has ended.
//
// For each group it calls turn, which gets hold of what it needs to commit, then calls take
// for the jobs, of at most that weight together, but at least one if there is any; commits
// them and sets the outcome of each. Jobs may be withdrawn, with a definite outcome, until
// they are taken: turn must not be kept waiting after that.
//
// An error of turn means that it has taken nothing. Then all that wait fail with it.
func (q *Queue[W]) Serve(weight int, turn func(take func() []*Job[W]) error) {
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
		finish(jobs)
	}
}

// take removes the jobs of the next group: the first ones, as many as weigh no more than
// that. Of those with the same key it takes one, and leaves the others in their order.
func (q *Queue[W]) take(weight int) []*Job[W] {
	q.mu.Lock()
	defer q.mu.Unlock()
	var taken, left []*Job[W]
	keys := map[string]bool{}
	for i, j := range q.jobs {
		if keys[j.Key] {
			left = append(left, j)
			continue
		}
		if len(taken) > 0 && j.Weight > weight {
			left = append(left, q.jobs[i:]...)
			break
		}
		if j.Key != "" {
			keys[j.Key] = true
		}
		weight -= j.Weight
		taken = append(taken, j)
	}
	if q.jobs = left; len(left) > 0 {
		q.signal()
	}
	return taken
}

// takeAll removes all jobs.
func (q *Queue[W]) takeAll() []*Job[W] {
	q.mu.Lock()
	defer q.mu.Unlock()
	jobs := q.jobs
	q.jobs = nil
	return jobs
}
