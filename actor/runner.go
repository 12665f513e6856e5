package actor

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/understudy-go/understudy/internal/metadata"
)

type runner struct {
	main func() // created once
	lent lent

	place     int            // in the set of runners; guarded by the mutex of the scheduler
	blocked   bool           // it has not moved, or is going to block: it does not count, and is in no set; likewise
	blockedAt linked[runner] // among those that are blocked; likewise
	after     *runner        // in the list of spare runners; likewise

	hasBatch bool // it may have a run batch; owned by the goroutine
	taken    int  // actors from local queues since it last asked the scheduler; likewise
	usedUp   bool // its last turn has used up its time; likewise
	crowded  bool // other goroutines waited for a processor after that turn; likewise

	untilTimed int   // turns, see timing; likewise
	labelled   *kind // whose label the goroutine has; nil for none; likewise

	now     time.Duration                    // when a turn has last looked at the clock of requests; owned by the goroutine
	request atomic.Pointer[metadata.Request] // that its actor handles; nil for another message
	failure error                            // at that request, by the behavior that the handler has returned; owned by the goroutine
	inHand  any                              // the message of a request whose handler panics; likewise

	// The goroutine writes these under mu or under the mutex of the scheduler; others read and
	// write them under both.
	mu    sync.Mutex
	at    *core         // the actor it runs; nil outside a turn
	moved bool          // since the last check of the watchdog
	since time.Duration // from epoch: it has been inside the same handler at least since then; 0 before the first look
	turns int           // not yet counted by the scheduler
	batch []*core       // the run batch: actors it runs next
	space [maxRunBatch]*core
}

// That many come out of the queue at once, besides the actor that runs first.
const maxRunBatch = 16

// crowdedAfter is how long other goroutines keep the processor from a runner that yields when there
// is more to compute than the processors can.
const crowdedAfter = time.Millisecond

// The runner counts as spinning. Its main is to be called in a new goroutine.
func (s *scheduler) engage() *runner {
	r := s.spare
	if r == nil {
		r = &runner{untilTimed: s.timing.gap()}
		r.main = func() {
			s.labels.renew(r, nil)
			if c := s.spin(r); c != nil {
				s.work(r, c)
			}
		}
	} else {
		s.spare, r.after = r.after, nil
		s.spares--
	}
	s.busy++
	s.spinning++
	s.wakeup.Store(true)
	s.runners.add(r)
	return r
}

// work returns when r has nothing more to run.
func (s *scheduler) work(r *runner, c *core) {
	for turns := 1; c != nil; turns++ {
		var again *core
		if c.impl.(*cell).turn(s, r) { // only cells get ready
			again = c
		}
		if again != nil || turns%yieldAfter == 0 {
			r.yield()
		}
		c = s.goOn(r, again)
	}
}

// After a long turn it notes whether other goroutines kept the processor.
func (r *runner) yield() {
	if !r.usedUp {
		runtime.Gosched()
		return
	}
	begun := time.Since(epoch)
	runtime.Gosched()
	r.crowded = time.Since(epoch)-begun > crowdedAfter
}

// nil ends r. again is the previous actor if it has more to do, or nil.
func (s *scheduler) goOn(r *runner, again *core) *core {
	if r.usedUp {
		return s.next(r, again)
	}
	if c := r.nextOfBatch(); c != nil {
		if again != nil {
			s.ready(again)
		}
		return c
	}
	if c := s.locals.refill(r, again); c != nil {
		return c
	}
	return s.next(r, again)
}

func (r *runner) nextOfBatch() *core {
	if !r.hasBatch {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.batch) == 0 {
		r.hasBatch = false
		return nil
	}
	c := r.batch[0]
	r.batch[0], r.batch = nil, r.batch[1:]
	r.enter(c)
	r.turns++
	return c
}

// The mutex of r or of the scheduler is held.
func (r *runner) enter(c *core) { r.at, r.moved, r.since = c, true, 0 }

// Another goroutine goes on as r: it calls f for c, whose turn it was.
func (s *scheduler) replace(r *runner, c *core, f func()) {
	s.mu.Lock()
	r.takeBack()
	s.mu.Unlock()
	go func() {
		f()
		s.work(r, s.goOn(r, c))
	}()
}

// Any goroutine may read it.
type lastRunner struct{ atomic.Pointer[runner] }

// Usually it is the one before, and a load costs less than a store.
func (l *lastRunner) begin(r *runner) {
	if l.Load() != r {
		l.Store(r)
	}
}

// begin releases the mutex.
func (s *scheduler) begin(r *runner) *core {
	c := s.waiting.pop()
	r.enter(c)
	s.begun++
	s.turns += r.turns + 1
	r.turns = 0
	if s.waiting.fresh.size > 1 && !s.overcommits() {
		s.giveBatch(r)
	}
	more := s.reinforce()
	s.mu.Unlock()
	if more != nil {
		go more.main()
	}
	return c
}

// The runner need not return for each actor. The watchdog gives them to another runner if the first
// takes long, or if turns are long.
func (s *scheduler) giveBatch(r *runner) {
	r.batch, r.hasBatch = r.space[:min(s.waiting.fresh.size/2, maxRunBatch)], true
	s.waiting.fresh.move(r.batch) // there are others left
	if !s.watchdogArmed {
		s.armWatchdog()
	}
}

// The mutex of r is held.
func (s *scheduler) reclaimBatch(r *runner) {
	if len(r.batch) == 0 {
		return
	}
	s.waiting.fresh.putBack(r.batch)
	clear(r.batch)
	r.batch = nil
	s.wakeup.Store(true)
}

// r runs no actor, and counts again.
func (s *scheduler) returned(r *runner) {
	if r.blocked {
		r.blocked = false
		r.blockedAt.remove()
		s.busy++
		s.runners.add(r)
		r.at.impl.(*cell).runner.CompareAndSwap(r, nil) // so that an idle actor does not keep a runner that has ended
	}
	r.at = nil
}

func (s *scheduler) dismiss(r *runner) {
	s.locals.shut(&s.waiting.fresh)
	s.busy--
	s.turns += r.turns
	r.turns = 0
	s.runners.remove(r)
	if s.spares < maxSpares {
		s.spares++
		r.after, s.spare = s.spare, r
	}
	if s.waiting.size() > 0 && !s.watchdogArmed && !s.virtual {
		s.armWatchdog()
	}
}

// The watchdog looks at each of these runners, which spin, or are inside turns and move. Of blocked
// ones there may be many; for these see [blockedRunners].
type runnerSet struct{ all []*runner }

func (s *runnerSet) add(r *runner) {
	r.place = len(s.all)
	s.all = append(s.all, r)
}

func (s *runnerSet) remove(r *runner) {
	end := len(s.all) - 1
	last := s.all[end]
	s.all[r.place], s.all[end] = last, nil
	last.place = r.place
	s.all = s.all[:end]
}

const (
	maxTurn = 250 * time.Microsecond
	// They bound the time between two looks at the clock.
	shortStride, longStride = 15 * time.Microsecond, 50 * time.Microsecond
	// In messages.
	maxStride = 32
)

// A turnClock notices that a turn takes long. It looks at the clock after a number of messages that
// the actor has learned, because a look costs more than a short message. If messages become long,
// the watchdog makes it look earlier.
type turnClock struct {
	begun, last time.Duration // since epoch; 0 before the first look
	left        int           // messages until the next look
}

var epoch = time.Now()

// stride is how many messages have been handled since the last look or the begin of the turn, and
// then how many to handle until the next; 0 means 1.
func (t *turnClock) look(now time.Duration, stride *uint8) (ends bool) {
	if t.begun == 0 {
		t.begun = now
	} else {
		switch took := now - t.last; {
		case took < shortStride:
			*stride = uint8(min(2*int(max(*stride, 1)), maxStride))
		case took > longStride:
			*stride = 1
		}
	}
	t.last = now
	t.left = int(max(*stride, 1))
	return now-t.begun >= maxTurn
}

// The clock of testing/synctest begins in the year 2000, and no other goes back by years while a
// process runs.
func timeIsVirtual() bool { return epoch.Round(0).Sub(time.Now().Round(0)) > 365*24*time.Hour }
