package actor

import (
	"cmp"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A scheduler runs the actors of one system that have something to do. They wait in a
// queue, which is worked off by runners: goroutines that take one actor after the other,
// look a little longer when there is none, and then end. So an idle system has none, and
// what is told from one actor to the next needs no switch of goroutines. While every processor
// has a runner, actors wait in queues of the processors instead; see [localQueues].
//
// Normally there are no more runners than processors. But handlers may block, and nobody
// who waits may be held hostage by that. Who knows that it is going to block says so; see
// [scheduler.handoff]. For the others there is a watch, a timer that runs only while actors
// wait, in the queue or for the runner that has taken them: it sees which runners have not moved since it looked last, and replaces them; and
// where turns take long, be it that they block or compute, it makes the scheduler
// overcommit: every actor that gets ready has a runner of its own for a while, up to 64 for
// each processor. That costs little where turns are long.
//
// A system may live in a bubble of testing/synctest, so that schedulers share nothing. There
// the scheduler is overcommit all the time: a bubble is quiet when all of its goroutines are
// blocked, and then everybody must have done what he could, without a timer's help.
type scheduler struct {
	mu      sync.Mutex  // guards all below
	waiting readyQueue  // of actors that are ready
	locals  localQueues // the others; they have mutexes of their own
	limit   int         // of runners, while the scheduler is not overcommit
	virtual bool        // time is, so that it is always overcommit

	busy       int         // runners that count: they look for work, or are inside turns and move
	spinning   int         // how many of them look for work, those that have been started just now included
	wakeup     atomic.Bool // something may have got ready since who looks has looked; may be read without mu
	runners    runnerSet   // all that have not ended
	spare      *runner     // those that have ended, to be started again
	spares     int         // how many there are
	skip       int         // how often to do without one more runner
	spinMisses int         // the value of skip when the next one finds nothing to do

	begun uint64 // how often the scheduler has given a runner something to do

	watchdog      *time.Timer
	watchdogArmed bool // watch is armed
	since         time.Time
	turns         int // since then
	overcommit    int // for how many looks of the watch more
	patience      int // for how many it is overcommit next
}

const (
	// watchdogInterval is how often the watch looks. Who waits behind handlers that block gets
	// a runner after two looks at most.
	watchdogInterval = 250 * time.Microsecond
	// longTurn is the length from which on it does not matter what a goroutine costs.
	longTurn = 10 * time.Microsecond
	// The watch is overcommit for so many looks, and longer each time when it finds that
	// turns are still long after that.
	minPatience, maxPatience = 8, 128
	// overcommitFactor is how many runners that move there may be for each processor while the
	// scheduler is overcommit.
	overcommitFactor = 64
	// yieldAfter is how many turns a runner works before it lets other goroutines run.
	yieldAfter = 128
	// maxSpares is how many runners that have ended are kept.
	maxSpares = 64
	// maxSpinMisses bounds how often a second runner is not started after one was of no use.
	maxSpinMisses = 1 << 10
	// patience is how many looks the others have for what waits alone.
	patience = 3
)

// ready puts c, which is in no queue, behind those that wait.
func (s *scheduler) ready(c *core) {
	if s.locals.add(c) {
		return
	}
	s.mu.Lock()
	s.push(c)
	r := s.reinforce()
	s.mu.Unlock()
	if r != nil {
		go r.main()
	}
}

func (s *scheduler) push(c *core) {
	s.waiting.push(c)
	if s.spinning > 0 {
		s.wakeup.Store(true)
	}
}

// reinforce returns a runner that is to be started for who waits, if there should be one
// more. Else it sees that the watch looks after them.
func (s *scheduler) reinforce() *runner {
	if s.waiting.size == 0 {
		return nil
	}
	more := s.needsMore()
	if !s.watchdogArmed && (!more || s.overcommit > 0) && !s.virtual {
		s.armWatchdog()
	}
	if more {
		return s.engage()
	}
	return nil
}

func (s *scheduler) needsMore() bool {
	switch {
	case s.spinning > 0: // it will see
		return false
	case s.busy == 0 || s.overcommits():
		return true
	case s.busy >= s.limit:
		return false
	case s.skip > 0:
		s.skip--
		return false
	}
	return true
}

// most is how many runners that move there may be.
func (s *scheduler) most() int {
	switch {
	case s.virtual:
		return math.MaxInt
	case s.overcommit > 0:
		return overcommitFactor * s.limit
	}
	return s.limit
}

// overcommits says whether who gets ready has a runner of its own.
func (s *scheduler) overcommits() bool {
	return s.virtual || s.overcommit > 0 && s.busy < s.most()
}

// next is goOn for who has no share left.
func (s *scheduler) next(r *runner, again *core) *core {
	s.mu.Lock()
	s.returned(r)
	if again != nil {
		s.push(again)
	}
	superfluous := s.busy > s.most()
	if s.workLeft() && !superfluous {
		return s.begin(r)
	}
	if superfluous || s.spinning > 0 { // one that looks is enough
		s.dismiss(r)
		s.mu.Unlock()
		return nil
	}
	s.spinning++
	s.wakeup.Store(s.waiting.size > 0)
	s.mu.Unlock()
	return s.spin(r)
}

// workLeft says whether anybody waits, and sees that he does so here. If nobody does, the
// local queues are shut.
func (s *scheduler) workLeft() bool {
	if s.waiting.size == 0 {
		s.locals.gather(&s.waiting)
	}
	if s.waiting.size == 0 {
		s.locals.shut(&s.waiting)
	}
	return s.waiting.size > 0
}

// look waits a little for work. While others are inside turns it leaves them what they
// have just made ready, as they will take it themselves, sooner than anybody else.
func (s *scheduler) spin(r *runner) *core {
	var begun uint64
	same := 0
	for range s.spins() {
		if s.wakeup.Load() {
			c, now := s.poll(r, same == patience)
			if c != nil {
				return c
			}
			if now != begun {
				begun, same = now, 0
			} else {
				same++
			}
		}
		runtime.Gosched()
	}
	return s.stopSpinning(r, same > 0)
}

// looks is how often a runner looks for work before it ends: a few microseconds. Longer
// takes the processor from whom it waits for. In a bubble nobody else is busy, so that work
// does not come.
func (s *scheduler) spins() int {
	if s.virtual {
		return 6
	}
	return 16
}

// poll returns what r is to do, if there is something for it. Of one that waits it says how
// much the others have begun: they may come for it, if they are not late.
func (s *scheduler) poll(r *runner, late bool) (c *core, begun uint64) {
	s.mu.Lock()
	if s.isForSpinner(late) {
		s.spinning--
		s.skip, s.spinMisses = s.skip/2, s.spinMisses/2
		return s.begin(r), 0
	}
	s.wakeup.Store(s.waiting.size > 0)
	begun = s.begun
	s.mu.Unlock()
	return nil, begun
}

// isForSpinner says whether who looks is to take what waits.
func (s *scheduler) isForSpinner(late bool) bool {
	switch s.waiting.size {
	case 0:
		return false
	case 1:
		return late || s.busy == s.spinning || s.overcommits()
	}
	return true
}

// stopSpinning ends r, unless somebody waits after all.
func (s *scheduler) stopSpinning(r *runner, late bool) *core {
	s.mu.Lock()
	isForIt := s.isForSpinner(late)
	s.spinning--
	if isForIt {
		return s.begin(r)
	}
	s.spinMisses = min(2*s.spinMisses+1, maxSpinMisses)
	s.skip = s.spinMisses
	s.dismiss(r)
	s.mu.Unlock()
	return nil
}

// handoff says that c, which is inside a turn, is going to block: its runner does not count
// until the turn ends. It may be called by any goroutine, and does nothing when c is not.
func (s *scheduler) handoff(c *core) {
	s.mu.Lock()
	var more *runner
	for _, r := range s.runners.all { // one may have ended such a turn, and not said so yet
		if s.block(r, c) {
			more = cmp.Or(more, s.reinforce())
		}
	}
	s.mu.Unlock()
	if more != nil {
		go more.main()
	}
}

// release notes that r is blocked, if it is inside a turn of c and was not.
func (s *scheduler) block(r *runner, c *core) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at != c || r.blocked {
		return false
	}
	s.markBlocked(r)
	return true
}

// markBlocked notes that r is blocked; what it has taken is for others. The mutex of r is held.
func (s *scheduler) markBlocked(r *runner) {
	r.blocked = true
	s.busy--
	s.locals.shut(&s.waiting)
	s.reclaimBatch(r)
}
