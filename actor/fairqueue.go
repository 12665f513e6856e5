package actor

// A fairQueue holds the ready actors of a scheduler. Fresh ones, which a message has woken or whose
// turn was short, go before those that have used up the time of a turn. One of these is taken after
// usedAfter fresh ones, so that they do not starve.
type fairQueue struct {
	fresh, used readyQueue
	passed      int // how many fresh ones were taken since a used one, while one waited
}

const usedAfter = 8

func (q *fairQueue) size() int { return q.fresh.size + q.used.size }

func (q *fairQueue) pop() *core {
	if q.used.size == 0 {
		return q.fresh.pop()
	}
	if q.fresh.size == 0 || q.passed == usedAfter {
		q.passed = 0
		return q.used.pop()
	}
	q.passed++
	return q.fresh.pop()
}
