package actor

import (
	"time"

	"github.com/understudy-go/understudy/internal/guard"
)

// batchSize is how many messages a turn handles before it lets other actors run.
const batchSize = 300

// A cell is an actor at run time: its mailbox, its behavior, and the turn that handles messages. A
// turn runs in a goroutine of the scheduler while the actor has something to do. No other goroutine
// touches the fields "owned by the turn", or the batch.
type cell[M any] struct {
	inbox[M]
	initial   Behavior[M] // the behavior it was spawned with
	ctx       Context[M]
	onMessage MessageHandler[M] // owned by the turn, as all below is, except the inbox
	onSignal  SignalHandler[M]
	scratch   Next[M]
	runner    lastRunner
}

// phase is the state of an actor in its life.
type phase uint8

const (
	starting   phase = iota // no behavior yet
	running                 //
	paused                  // handles a message, without a turn; see pause
	restarting              // waits for children or for the backoff
	stopping                // waits for children
	stopped
)

// turn handles messages for maxTurn, up to batchSize, and reports whether there may be more. A
// panic fails the actor; one recover serves the whole turn.
func (c *cell[M]) turn(s *scheduler, r *runner) (more bool) {
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
		if r := recover(); r != nil {
			more, c.core.inTask = true, false
			c.fail(guard.Recovered(r))
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

func (c *cell[M]) lastRunner() *lastRunner { return &c.runner }

// work handles up to n things; false means that nothing is left and the turn is over.
func (c *cell[M]) work(n int, r *runner) (more bool) {
	clock := turnClock{left: int(max(c.core.stride, 1))}
	for left := n; left > 0; {
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
		if c.core.phase == running && c.batch.size > 0 {
			if clock.left <= 0 && !c.core.sys.scheduler.virtual && clock.look(time.Since(epoch), &c.core.stride) {
				r.usedUp = true
				sayDrawn(c)
				return true
			}
			handled := c.handleBatch(min(left, max(clock.left, 1)))
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

// handleBatch handles up to n items of the batch, until a system message arrives or the actor no
// longer runs. It returns how many it has handled.
func (c *cell[M]) handleBatch(n int) (handled int) {
	for handled < n && c.core.phase == running && c.batch.size > 0 && !c.urgent.Load() {
		handled++
		c.tally.handled++
		if c.conf.admission == nil || !c.refused() {
			c.handle()
		}
	}
	return handled
}

// handle handles the first item of the batch.
func (c *cell[M]) handle() {
	if k := c.batch.head; k.next+1 < len(k.msgs) && len(k.tasks) == 0 {
		c.batch.size--
		c.handleMessage(k.first())
		return
	}
	it, _ := c.batch.pop(&c.conf.chunks)
	if it.task != nil {
		c.runTask(it)
	} else {
		c.handleMessage(it.msg)
	}
}

// runTask runs the task of it.
func (c *cell[M]) runTask(it item[M]) {
	c.core.inTask = true
	it.task.run(c)
	c.core.inTask = false
}

const (
	// spinAfter is how many things a turn must have handled before it spins.
	spinAfter = 16
	// spinSteps takes about half a microsecond.
	spinSteps = 1000
)

// spin gives senders time to send more than one message: a turn that returns to the mailbox for
// each message contends with its senders for the lock.
func (c *cell[M]) spin() {
	if c.core.sys.scheduler.virtual {
		return
	}
	for n := 0; n < spinSteps && !c.urgent.Load(); n++ {
	}
}

// refillOrRest fetches the messages that have arrived since the batch was taken. Without any it
// ends the turn and returns false.
func (c *cell[M]) refillOrRest() bool {
	c.tally.flush()
	if !c.core.mu.TryLock() {
		c.core.lockWithBackoff() // as senders do, which otherwise would always win
	}
	if !c.system.empty() {
		c.core.mu.Unlock()
		return true
	}
	if c.core.phase == running {
		if msg, ok := c.queue.takeFirst(); ok {
			c.queue.refill(&c.batch, c.conf.box, &c.conf.chunks)
			c.tally.drawn = drawn(c.batch.size)
			c.core.mu.Unlock()
			c.tally.handled++
			use(&c.inbox)
			c.handleMessage(msg)
			return true
		}
		if c.priorities != nil {
			if n := c.queue.waiting.size + c.priorities.size(); n > 0 {
				c.tally.drawn = drawn(n)
				c.prioritize()
				return true
			}
		} else if c.queue.refill(&c.batch, c.conf.box, &c.conf.chunks) {
			c.tally.drawn = drawn(c.batch.size)
			c.senders.admit()
			useBy(&c.inbox, &c.batch)
			c.core.mu.Unlock()
			return true
		}
	}
	c.core.scheduled = false
	c.tally.drawn = 0
	c.core.owner.end()
	c.openBypass(c.onMessage)
	c.core.mu.Unlock()
	return false
}

// A lastTask stops the actor when its turn in the mailbox comes.
type lastTask[M any] struct{}

func (*lastTask[M]) run(c *cell[M]) { c.beginStop(nil) }

func (*lastTask[M]) exempt() bool { return true }

func (*lastTask[M]) follows() bool { return true }

func (*lastTask[M]) undelivered() (any, bool) { return nil, false }
