package actor

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A scheduler runs the actors of one system that have something to do. They wait in a queue that
// runners serve. A runner is a goroutine that runs one actor after the other; when no actor waits,
// it spins for a moment and then ends. An idle system therefore has no goroutine, and a message
// from one actor to the next needs no switch of goroutines. While every processor has a runner,
// actors wait in queues of the processors instead, see [localQueues].
//
// Normally there are at most as many runners as processors. Because handlers may block, two
// mechanisms add more:
//
//   - A handler that is about to block announces it, see [scheduler.handoff].
//   - The watchdog is a timer that runs only while actors wait, in the queue or in the run batch of
//     a runner. It replaces runners that have not moved since its last check. When turns take long,
//     blocking or computing, it lets the scheduler overcommit for a while: every ready actor gets a
//     runner of its own, up to 64 for each processor. That costs little when turns are long.
//
// In a bubble of testing/synctest the scheduler always overcommits: a bubble is quiet when all of
// its goroutines are blocked, and every actor must have done what it can by then, without help of a
// timer. Schedulers share nothing, because goroutines of different bubbles must not.
//
// The scheduler stays in package actor. Its queues hold *core and its runners call cell.turn; in a
// package of its own it would reach both through an interface value, with two words for each
// waiting actor, and its fields in core would have to be exported.
type scheduler struct {
	mu      sync.Mutex // guards all below
	waiting fairQueue
	locals  localQueues // further ready actors; with mutexes of their own
	limit   int         // of runners, unless the scheduler overcommits
	virtual bool        // time is virtual, so that it always overcommits

	busy       int            // runners that count: they spin, or are inside turns and move
	blocked    blockedRunners // those that do not
	spinning   int            // how many of them spin, including those just started
	wakeup     atomic.Bool    // an actor may have become ready since the last poll; may be read without mu
	runners    runnerSet      // the runners that count
	spare      *runner        // ended runners for reuse
	spares     int
	skip       int // how often not to start one more runner
	spinMisses int // the next value of skip when a runner finds nothing

	begun uint64 // how many actors have been given to runners

	lending lending

	timing timing // never written after the start of the system

	labels profileLabels

	watchdog      *time.Timer
	watchdogArmed bool
	since         time.Time
	turns         int // turns since then
	overcommit    int // for how many more checks
	patience      int // next time
}

const (
	// An actor that waits behind blocked handlers gets a runner after at most two checks.
	watchdogInterval = 250 * time.Microsecond
	// The length of a turn from which on the cost of a goroutine does not matter.
	longTurn = 10 * time.Microsecond
	// The scheduler overcommits for so many checks, twice as many each time turns are still long
	// afterwards.
	minPatience, maxPatience = 8, 128
	// For each processor, while the scheduler overcommits.
	overcommitFactor = 64
	// In turns.
	yieldAfter    = 128
	maxSpares     = 64
	maxSpinMisses = 1 << 10
	// How often a spinning runner leaves a single waiting actor to the others.
	patience = 3
)

// c is in no queue yet.
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
	s.waiting.fresh.push(c)
	if s.spinning > 0 {
		s.wakeup.Store(true)
	}
}

// nil means that there should not be one more; the watchdog then runs.
func (s *scheduler) reinforce() *runner {
	if s.waiting.size() == 0 {
		return nil
	}
	// If no runner is started for what waits, only the watchdog notices that the handlers of all
	// others block. One that is started looks for itself. For a lent one there is checkLent: to arm
	// a timer for each lone message from another node would cost that message two wake-ups.
	more := s.needsMore()
	if !s.watchdogArmed && !s.lending.brief && (!more || s.overcommit > 0) && !s.virtual {
		s.armWatchdog()
	}
	if more {
		return s.engage()
	}
	return nil
}

func (s *scheduler) needsMore() bool {
	switch {
	case s.spinning > 0: // the spinning runner will see it
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

func (s *scheduler) most() int {
	switch {
	case s.virtual:
		return math.MaxInt
	case s.overcommit > 0:
		return overcommitFactor*s.limit + s.blocked.size()
	}
	return s.limit
}

func (s *scheduler) overcommits() bool {
	return s.virtual || s.overcommit > 0 && s.busy < s.most()
}

// The run batch of r is empty.
func (s *scheduler) next(r *runner, again *core) *core {
	s.mu.Lock()
	if s.sleeps(r) {
		r.usedUp = false
		s.blocked.again(r)
		s.mu.Unlock()
		return again
	}
	s.returned(r)
	s.queueAgain(r, again)
	// A runner that was taken for blocked has been replaced. Now that it counts again there may be
	// one too many, and it ends, with its work left to the others.
	superfluous := s.busy > s.most()
	if s.workLeft() && !superfluous {
		return s.begin(r)
	}
	if superfluous || s.spinning > 0 { // one spinning runner is enough
		s.dismiss(r)
		s.mu.Unlock()
		return nil
	}
	s.spinning++
	s.wakeup.Store(s.waiting.size() > 0)
	s.mu.Unlock()
	s.labels.give(r, nil)
	return s.spin(r)
}

// sleeps reports whether r, whose turn has used up its time, goes on with the same actor and stays
// blocked: its handlers sleep, or wait for something, because a processor was free when they ended,
// and no other actor needs r.
func (s *scheduler) sleeps(r *runner) bool {
	return r.blocked && r.usedUp && !r.crowded && s.waiting.fresh.size == 0 && (s.waiting.used.size == 0 || s.overcommit > 0)
}

// If the actor has used up its time, the run batch of r waits no longer for r alone.
func (s *scheduler) queueAgain(r *runner, again *core) {
	usedUp := r.usedUp
	r.usedUp = false
	if usedUp {
		r.mu.Lock()
		s.reclaimBatch(r)
		r.mu.Unlock()
	}
	switch {
	case again == nil:
	case usedUp:
		s.waiting.used.push(again)
	default:
		s.push(again)
	}
}

// If no actor waits, it closes the local queues.
func (s *scheduler) workLeft() bool {
	if s.waiting.fresh.size == 0 {
		s.locals.gather(&s.waiting.fresh)
	}
	if s.waiting.size() == 0 {
		s.locals.shut(&s.waiting.fresh)
	}
	return s.waiting.size() > 0
}

// spin waits a little for work. While others are inside turns it leaves them the actors that they
// have just made ready: they will run them sooner than anybody else.
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

// The spinning takes a few microseconds. Longer spinning takes the processor from the goroutines
// that make work. In a bubble no work comes meanwhile.
func (s *scheduler) spins() int {
	if s.virtual {
		return 6
	}
	return 16
}

// poll returns the actor that r is to run, if there is one for it. Otherwise begun is how many
// actors have been started: if only one waits, others may come for it unless they are late.
func (s *scheduler) poll(r *runner, late bool) (c *core, begun uint64) {
	s.mu.Lock()
	if s.isForSpinner(late) {
		s.spinning--
		s.skip, s.spinMisses = s.skip/2, s.spinMisses/2
		return s.begin(r), 0
	}
	s.wakeup.Store(s.waiting.size() > 0)
	begun = s.begun
	s.mu.Unlock()
	return nil, begun
}

func (s *scheduler) isForSpinner(late bool) bool {
	switch s.waiting.size() {
	case 0:
		return false
	case 1:
		return late || s.busy == s.spinning || s.overcommits()
	}
	return true
}

func (s *scheduler) stopSpinning(r *runner, late bool) *core {
	s.mu.Lock()
	// While spinning counts this runner, ready starts no other one. It therefore looks once more
	// under the mutex under which it ceases to count: what became ready meanwhile would otherwise
	// wait for the watchdog.
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

// c is going to block: its runner does not count until the turn ends, and another one takes over.
// Any goroutine may announce that; it has no effect if c is not inside a turn.
func (s *scheduler) handoff(c *core) {
	of, ok := c.impl.(*cell)
	if !ok {
		return
	}
	r := of.runner.Load()
	if r == nil {
		return
	}
	var more *runner
	s.mu.Lock()
	if s.block(r, c) {
		more = s.reinforce()
	}
	s.mu.Unlock()
	if more != nil {
		go more.main()
	}
}

// False means that r is not inside a turn of c, or blocked already.
func (s *scheduler) block(r *runner, c *core) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at != c || r.blocked {
		return false
	}
	c.impl.(*cell).setUrgent() // so that the next message counts as another one
	s.markBlocked(r)
	return true
}

// The mutex of r is held.
func (s *scheduler) markBlocked(r *runner) {
	r.blocked = true
	s.runners.remove(r)
	s.blocked.add(r)
	s.turns += r.turns
	r.turns = 0
	s.busy--
	s.locals.shut(&s.waiting.fresh)
	s.reclaimBatch(r)
	r.takeBack()
}
