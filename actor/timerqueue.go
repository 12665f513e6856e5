package actor

import (
	"math"
	"slices"
	"sync"
	"time"
)

// Actors on different processors seldom contend for one queue.
type timerQueues [8]timerQueue

// A timerQueue expires many timers with one timer of the runtime, and with one goroutine for all
// that are due. A timer of the runtime for each would need a goroutine for each, and more memory.
type timerQueue struct {
	mu        sync.Mutex   // guards all below, and the timers
	heap      []timerEntry // a 4-ary heap, the earliest first
	cancelled int          // how many of its timers are cancelled
	base      time.Time    // due times count from here
	clock     *time.Timer
	next      time.Duration // when clock expires, if armed
	armed     bool          // clock will expire
	expiring  bool          // a goroutine expires timers, and arms the clock afterwards
	_         [64]byte      // keeps the next one out of this cache line
}

type timerEntry struct {
	due   time.Duration
	timer *queuedTimer
}

type queuedTimer struct {
	of        interface{ expire() } // which must not block
	waits     bool
	cancelled bool // it is dropped instead
}

// a is not in the heap.
func (q *timerQueue) add(a *queuedTimer, d time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	a.waits = true
	due := q.now() + d
	if d > 0 && due < 0 { // overflow
		due = math.MaxInt64
	}
	q.push(timerEntry{due, a})
	q.arm()
}

func (q *timerQueue) now() time.Duration {
	if q.base.IsZero() {
		q.base = time.Now()
	}
	return time.Since(q.base)
}

func (q *timerQueue) arm() {
	if q.expiring || len(q.heap) == 0 {
		return
	}
	first := q.heap[0].due
	if q.armed && q.next <= first {
		return
	}
	q.armed, q.next = true, first
	switch wait := first - q.now(); {
	case wait <= 0: // see bubble.Wait, but at once
		q.stop()
		go q.expire()
	case q.clock == nil:
		q.clock = time.AfterFunc(wait, q.expire)
	default:
		q.clock.Reset(wait)
	}
}

func (q *timerQueue) cancel(a *queuedTimer) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !a.waits || a.cancelled {
		return
	}
	a.cancelled = true
	q.cancelled++
	if 2*q.cancelled > len(q.heap) {
		q.sweep()
	}
}

// sweep costs less than adding the timers did.
func (q *timerQueue) sweep() {
	q.heap = slices.DeleteFunc(q.heap, func(e timerEntry) bool { return e.timer.cancelled })
	q.cancelled = 0
	if len(q.heap) == 0 {
		q.heap = nil
		q.disarm()
		return
	}
	for i := len(q.heap) / timerBranches; i >= 0; i-- {
		q.sink(i)
	}
}

func (q *timerQueue) disarm() {
	if q.armed {
		q.stop()
		q.armed = false
	}
}

func (q *timerQueue) stop() {
	if q.clock != nil {
		q.clock.Stop()
	}
}

// How many timers expire each time that the mutex is taken.
const expireAtOnce = 64

func (q *timerQueue) expire() {
	var due []*queuedTimer
	for {
		due = q.takeDue(due[:0])
		if len(due) == 0 {
			return
		}
		for _, a := range due {
			a.of.expire()
		}
	}
}

// If none is due, it arms the clock.
func (q *timerQueue) takeDue(due []*queuedTimer) []*queuedTimer {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.armed, q.expiring = false, true
	for now := q.now(); len(q.heap) > 0 && q.heap[0].due <= now && len(due) < expireAtOnce; {
		if a := q.pop(); a.cancelled {
			q.cancelled--
		} else {
			a.waits = false
			due = append(due, a)
		}
	}
	if len(due) == 0 {
		q.expiring = false
		q.arm()
	}
	return due
}

// Four are in one cache line.
const timerBranches = 4

func (q *timerQueue) push(e timerEntry) {
	q.heap = append(q.heap, e)
	at := len(q.heap) - 1
	for at > 0 {
		above := (at - 1) / timerBranches
		if q.heap[above].due <= e.due {
			break
		}
		q.heap[at] = q.heap[above]
		at = above
	}
	q.heap[at] = e
}

// The heap is not empty.
func (q *timerQueue) pop() *queuedTimer {
	first, end := q.heap[0].timer, len(q.heap)-1
	q.heap[0], q.heap[end] = q.heap[end], timerEntry{}
	q.heap = q.heap[:end]
	if end == 0 {
		q.heap = nil
		return first
	}
	q.sink(0)
	return first
}

func (q *timerQueue) sink(at int) {
	e := q.heap[at]
	for {
		below := at*timerBranches + 1
		if below >= len(q.heap) {
			break
		}
		least := below
		for i := below + 1; i < min(below+timerBranches, len(q.heap)); i++ {
			if q.heap[i].due < q.heap[least].due {
				least = i
			}
		}
		if q.heap[least].due >= e.due {
			break
		}
		q.heap[at] = q.heap[least]
		at = least
	}
	q.heap[at] = e
}
