package actor

import (
	"sync/atomic"

	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/metadata"
)

const batchSize = 300

// A cell is what does not depend on the type of messages in an actor at run time: all but what its
// box has. A turn handles its messages; it runs in a goroutine of the scheduler while the actor has
// something to do. No other goroutine touches the fields "owned by the turn".
//
// These are its legal states while no turn runs: its phase, and what its mutex guards; - is any
// value. With the race detector, or the build tag understudy_debug, checkState and checkRest
// enforce them.
//
//	phase       suspended closed dead  plain  waiting
//	starting    true      false  false -      -       (its first turn is scheduled)
//	running     false     false  false -      0
//	  bypassed  false     false  false false  -       (tasks only)
//	  resting   false     false  false false  -
//	paused      false     false  false -      -       (it counts as scheduled)
//	restarting  true      false  false -      -
//	stopping    true      true   false -      -
//	stopped     true      true   true  false  0
//
// A turn is over only under the mutex, and only if nothing waits that it could handle. So a message
// that comes without one, and unless it is suspended, schedules the next.
//
// The order of the fields keeps what each message changes on few cache lines. What a turn changes
// comes first, then what everybody only reads, then the core, whose last part senders change. The
// queue of the box is behind it.
type cell struct {
	runner lastRunner
	inbox
}

type phase uint8

const (
	starting   phase = iota // no behavior yet
	running                 //
	paused                  // handles a message, without a turn; see pause
	restarting              // waits for children or for the backoff
	stopping                // waits for children
	stopped
)

func (c *cell) init(x typed, parent *core, name string, conf *config) {
	c.core.sys, c.core.parent, c.core.label, c.core.uid, c.core.impl = parent.sys, parent, name, parent.sys.nextUID(), c
	c.box, c.conf, c.extras = x, conf, &noExtras
	if conf.box.priority != nil {
		c.own().priorities = &priorities{priority: x.priority}
	}
	if conf.box.overflow == block {
		c.core.flags.set(blocking)
		c.own().senders = &blockedSenders{of: &c.inbox}
	}
	if conf.ctx != nil {
		c.life.Store(&life{given: conf.ctx})
	}
	c.due = 1 << sysStart
	c.urgent.Store(true)
	c.core.scheduled, c.core.suspended = true, true
	c.core.flags.set(notStarted)
	c.refit()
}

// turn takes maxTurn, and batchSize messages, at most. A panic fails the actor; one recover serves
// the whole turn.
func (c *cell) turn(s *scheduler, r *runner) (more bool) {
	halted := c.core.sys.halt.begun.Load()
	if halted && c.core.sys.halt.hold(&c.core) {
		return false
	}
	c.core.owner.begin()
	c.runner.begin(r)
	s.labels.give(r, c.tally.counts.of)
	returned := false
	senders := c.senders // read now: at the end another turn may own c
	at := senders.enter()
	defer func() {
		senders.leave(at)
		if returned {
			return
		}
		if p := recover(); p != nil {
			more, c.core.inTask = true, false
			r.request.Store(nil)
			err := guard.Recovered(p)
			c.fail(err)
			if msg := r.inHand; msg != nil {
				r.inHand = nil
				refuseFailed(c, msg, err)
			}
			return
		}
		// The handler has called runtime.Goexit. Its actor ends, whatever supervision says.
		s.replace(r, &c.core, func() {
			c.core.owner.begin()
			c.stopFailed(guard.ErrGoexit)
		})
	}()
	switch {
	case halted:
		more = c.workToEnd()
	case s.timing.due(r):
		more = timedWork(c, batchSize, r)
	default:
		more = c.work(batchSize, r)
	}
	returned = true
	return more
}

// False means that nothing is left and the turn is over.
func (c *cell) work(n int, r *runner) (more bool) {
	clock := turnClock{left: int(max(c.core.stride, 1))}
	for left := n; left > 0; {
		// System messages go before the rest of the batch: a stop, or the end of a child, must not
		// wait behind hundreds of messages. One atomic load asks for all of them.
		if c.urgent.Load() {
			if c.core.phase == paused && !c.pause.leave() {
				return false
			}
			if c.core.sys.halt.begun.Load() {
				return c.workToEnd()
			}
			if c.core.phase == paused { // again
				continue
			}
			if msg, ok := c.nextSystem(); ok {
				c.handleSystem(msg)
				left--
				clock.left--
				continue
			}
			clock.left = 0 // the watchdog may want it to look
			movedOn(&c.core.sys.scheduler, r)
		}
		if c.core.phase == running && c.batched > 0 {
			if clock.left <= 0 && !c.core.sys.scheduler.virtual {
				r.now = metadata.Now()
				if clock.look(r.now, &c.core.stride) {
					r.usedUp = true
					sayDrawn(c)
					return true
				}
			}
			handled := c.box.handleBatch(min(left, max(clock.left, 1)))
			left -= handled
			clock.left -= handled
			continue
		}
		if n-left >= spinAfter && c.conf.box.plain() { // the batch of other mailboxes is one item, however long the turn spins
			c.spin()
		}
		if !c.refillOrRest() {
			return false
		}
		left--
		clock.left--
	}
	sayDrawn(c)
	return true
}

func (c *cell) runTask(t task) {
	c.core.inTask = true
	t.run(c)
	c.core.inTask = false
}

const (
	spinAfter = 16
	// spinSteps takes about half a microsecond.
	spinSteps = 1000
)

// spin gives senders time to send more than one message: a turn that returns to the mailbox for
// each message contends with its senders for the lock.
func (c *cell) spin() {
	if c.core.sys.scheduler.virtual {
		return
	}
	for n := 0; n < spinSteps && !c.urgent.Load(); n++ {
	}
}

// Without new messages it ends the turn and returns false.
func (c *cell) refillOrRest() bool {
	// All that the turn owns is given up before the mutex is released with scheduled cleared: from
	// then on a message may begin another turn, on another processor.
	c.tally.flush()
	if !c.core.mu.TryLock() {
		c.core.lockWithBackoff() // as senders do, which otherwise would always win
	}
	if c.systemWaits() {
		c.core.mu.Unlock()
		return true
	}
	if c.core.phase == running && (c.priorities == nil && c.box.draw() || c.priorities != nil && c.prioritize()) {
		return true
	}
	// The mailbox was found empty under the same mutex. A message that comes later therefore sees
	// scheduled cleared, and schedules a turn. Cleared after the unlock, a message that comes
	// between would wait without one.
	c.core.scheduled = false
	c.tally.drawn = 0
	c.backlog.end()
	c.core.owner.end()
	c.openBypass()
	checkRest(c)
	checkState(&c.core)
	c.core.mu.Unlock()
	return false
}

// core.mu is held.
func (b *inbox) drew(items int32) { b.batched, b.tally.drawn = items, items }

// A lastTask stops the actor when its turn in the mailbox comes.
type lastTask struct{ trailing }

func (lastTask) run(c *cell) { c.beginStop(nil) }

// flags are states of a core that others may look at without its mutex, on the cache line that each
// sender reads anyway.
type flags struct{ bits atomic.Uint32 }

const (
	ended      uint32 = 1 << iota // its context is done
	bypassed                      // messages go to extras.bypass; set and cleared under core.mu
	resting                       // it takes no more messages, see returning; set under core.mu
	inUse                         // it has handled messages, see returning
	blocking                      // its mailbox may block; never changes
	exported                      // it is an ask that other nodes can reach; set under core.mu, before it is over
	abandoned                     // it is in no tree any more, see returning.Abandon; set under core.mu
	notStarted                    // its first behavior has not run; set before it is in the tree
	late                          // asks wait for its replies, see ask.await

	roundAt = 9 // the bits from here on are the round in which it was used last, see returning
)

func (f *flags) has(flag uint32) bool { return f.bits.Load()&flag != 0 }

func (f *flags) set(flag uint32) { f.bits.Or(flag) }

func (f *flags) clear(flag uint32) { f.bits.And(^flag) }

// It writes only a change.
func (f *flags) assign(flag uint32, value bool) {
	switch was := f.has(flag); {
	case value && !was:
		f.set(flag)
	case !value && was:
		f.clear(flag)
	}
}

func (f *flags) round() uint32 { return f.bits.Load() >> roundAt }

func (f *flags) note(flag, round uint32) {
	for {
		old := f.bits.Load()
		now := old&(1<<roundAt-1) | flag | round<<roundAt
		if now == old || f.bits.CompareAndSwap(old, now) {
			return
		}
	}
}
