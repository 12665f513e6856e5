package actor

import (
	"sync"
	"sync/atomic"
)

// A readyQueue holds the actors that wait for a turn. It stores them in pieces, and not as a list
// through the actors: adding one must not write to the one before, which another processor may be
// running.
type readyQueue struct {
	head, tail *readyPiece // never nil once there was one
	size       int
	spare      *readyPiece // empty, or nil
}

// Only the last one may be empty.
type readyPiece struct {
	cores      [64]*core
	begin, end int // those between wait
	after      *readyPiece
}

func (q *readyQueue) push(c *core) {
	last := q.tail
	if last == nil || last.end == len(last.cores) {
		last = q.grow()
	}
	last.cores[last.end] = c
	last.end++
	q.size++
}

func (q *readyQueue) grow() *readyPiece {
	fresh := q.fresh()
	if q.tail == nil {
		q.head = fresh
	} else {
		q.tail.after = fresh
	}
	q.tail = fresh
	return fresh
}

func (q *readyQueue) fresh() *readyPiece {
	fresh := q.spare
	if fresh == nil {
		return new(readyPiece)
	}
	q.spare = nil
	return fresh
}

func (q *readyQueue) pop() *core {
	if q.size == 0 {
		return nil
	}
	first := q.head
	c := first.cores[first.begin]
	first.cores[first.begin] = nil
	q.taken(1)
	return c
}

// There must be len(to) actors.
func (q *readyQueue) move(to []*core) {
	for len(to) > 0 {
		first := q.head
		n := copy(to, first.cores[first.begin:first.end])
		clear(first.cores[first.begin : first.begin+n])
		q.taken(n)
		to = to[n:]
	}
}

func (q *readyQueue) moveFrom(other *readyQueue, n int) {
	for range n {
		q.push(other.pop())
	}
}

func (q *readyQueue) taken(n int) {
	first := q.head
	first.begin += n
	q.size -= n
	if first.begin < first.end {
		return
	}
	first.begin, first.end = 0, 0
	if first.after != nil {
		q.head, first.after = first.after, nil
		q.spare = first
	}
}

// There is at least one, and at most as many as a piece holds.
func (q *readyQueue) putBack(cores []*core) {
	front := q.fresh()
	front.end = copy(front.cores[:], cores)
	front.after = q.head
	if q.size == 0 {
		front.after = nil
		q.tail = front
	}
	q.head = front
	q.size += len(cores)
}

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

// localQueues take ready actors while all runners are busy with short turns: no runner must be
// started then, so that the mutex of the scheduler is not needed. There is one queue for each
// processor, as in the scheduler of Go itself. Actors that send to each other stay on one
// processor, near their memory.
//
// The queues are open for at most the time between two checks of the watchdog: opening them
// requires an armed watchdog, which moves all actors in them to the queue of the scheduler.
type localQueues struct {
	set  atomic.Pointer[localQueueSet] // nil if closed; written under the mutex of the scheduler
	last *localQueueSet                // the last open one; guarded by that mutex
	turn int                           // where gather begins; likewise
}

type localQueueSet struct {
	all  []*localQueue
	here sync.Pool // of all of them; sync.Pool keeps values by processor
	next atomic.Uint32
}

type localQueue struct {
	mu      sync.Mutex // may be locked while those of the scheduler and of a runner are held
	waiting readyQueue
	_       [64]byte // keeps the next one out of this cache line
}

func newLocalQueueSet(n int) *localQueueSet {
	s := new(localQueueSet)
	for range n {
		s.all = append(s.all, new(localQueue))
	}
	s.here.New = func() any { return s.all[s.next.Add(1)%uint32(n)] }
	return s
}

// In most cases it is the queue of the current processor: sync.Pool may take a value from another.
func (s *localQueueSet) local() *localQueue {
	l := s.here.Get().(*localQueue) // nothing else is put there
	s.here.Put(l)
	return l
}

// The mutex of the scheduler is held.
func (q *localQueues) open(n int) {
	if q.last == nil || len(q.last.all) != n {
		q.last = newLocalQueueSet(n)
	}
	q.set.Store(q.last)
}

// The mutex of the scheduler is held.
func (q *localQueues) shut(to *readyQueue) {
	set := q.set.Swap(nil)
	if set == nil {
		return
	}
	for _, l := range set.all {
		l.mu.Lock()
		to.moveFrom(&l.waiting, l.waiting.size)
		l.mu.Unlock()
	}
}

// False means that the scheduler has to queue it.
func (q *localQueues) add(c *core) bool {
	set := q.set.Load()
	if set == nil {
		return false
	}
	l := set.local()
	l.mu.Lock()
	// shut removes the set, and then empties each queue under its mutex. What is added after that
	// would be lost, so the set is read again under the same mutex.
	if q.set.Load() != set { // they may have been closed meanwhile
		l.mu.Unlock()
		return false
	}
	l.waiting.push(c)
	l.mu.Unlock()
	return true
}

// gather looks at two queues, beginning with another one each time, and at more only until it finds
// an actor: the mutex of the scheduler is held, and each look may fetch memory from another
// processor.
func (q *localQueues) gather(to *readyQueue) {
	set := q.set.Load()
	if set == nil {
		return
	}
	q.turn++
	for i := range set.all {
		if to.size > maxRunBatch || to.size > 0 && i >= gatherFrom {
			return
		}
		l := set.all[(q.turn+i)%len(set.all)]
		l.mu.Lock()
		to.moveFrom(&l.waiting, (l.waiting.size+1)/2)
		l.mu.Unlock()
	}
}

const gatherFrom = 2

func (q *localQueues) size() (n int) {
	set := q.set.Load()
	if set == nil {
		return 0
	}
	for _, l := range set.all {
		l.mu.Lock()
		n += l.waiting.size
		l.mu.Unlock()
	}
	return n
}

// again joins the local queue first. nil means that r has to ask the scheduler.
func (q *localQueues) refill(r *runner, again *core) *core {
	set := q.set.Load()
	if set == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	// A runner that was marked as blocked must return to the scheduler, where it counts again. r.mu
	// keeps the watchdog from marking it until its batch is complete.
	if r.blocked || r.taken >= localTurns {
		r.taken = 0
		return nil
	}
	l := set.local()
	l.mu.Lock()
	defer l.mu.Unlock()
	if q.set.Load() != set || l.waiting.size == 0 {
		return nil
	}
	if again != nil {
		l.waiting.push(again)
	}
	c := l.waiting.pop()
	r.batch = r.space[:min((l.waiting.size+1)/2, maxRunBatch)]
	r.hasBatch = len(r.batch) > 0
	l.waiting.move(r.batch)
	r.taken += 1 + len(r.batch)
	r.enter(c)
	r.turns++
	return c
}

// localTurns counts actors, not refills: a refill may bring only one, and all processors share the
// mutex of the scheduler.
const localTurns = 4 * (1 + maxRunBatch)
