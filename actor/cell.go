package actor

import (
	"errors"
	"sync/atomic"

	"github.com/understudy-go/understudy/internal/payload"

	"github.com/understudy-go/understudy/internal/guard"
)

// batchSize is how many messages a turn handles before it lets other actors run.
const batchSize = 300

// A cell is an actor at run time: its mailbox, its behavior, and the turn that handles messages. A
// turn runs in a goroutine of the scheduler while the actor has something to do. No other goroutine
// touches the fields below "owned by the turn".
type cell[M any] struct {
	core

	queue   queue[M]    // guarded by core.mu
	system  systemMsgs  // to be handled before messages; likewise
	initial Behavior[M] // the behavior it was spawned with

	conf       *config[M]
	*extras[M] // see own
	ctx        Context[M]
	onMessage  MessageHandler[M] // owned by the turn, as all below is
	onSignal   SignalHandler[M]
	batch      chain[M]    // what the turn handles next; guarded by core.mu while suspended
	urgent     atomic.Bool // there are system messages; read by the turn
	epoch      uint32      // counts incarnations
	owner      owner
	scratch    Next[M]
}

// phase is the state of an actor in its life.
type phase uint8

const (
	starting   phase = iota // no behavior yet
	running                 //
	restarting              // waits for children or for the backoff
	stopping                // waits for children
	stopped
)

// tell puts msg into the mailbox. This is the fast way of an unbounded mailbox.
func (c *cell[M]) tell(msg M) {
	if !c.mu.TryLock() {
		c.lockWithBackoff()
	}
	if c.dead || !c.plain {
		c.mu.Unlock()
		c.tellAside(msg)
		return
	}
	if last := c.queue.waiting.tail; last != nil && last.hasPlace() {
		last.msgs = append(last.msgs, msg) // a turn is due already
		c.queue.waiting.size++
		c.mu.Unlock()
		return
	}
	c.queue.put(msg, &c.conf.chunks)
	wake := !c.scheduled && !c.suspended
	if wake {
		c.scheduled = true
	}
	c.mu.Unlock()
	if wake {
		c.sys.scheduler.ready(&c.core)
	}
}

// tellAside is tell for a cell that is not plain.
func (c *cell[M]) tellAside(msg M) {
	copied, err := carried(&c.core, msg)
	if err != nil {
		c.sys.deadLetter(&c.core, msg, err)
		return
	}
	c.enqueue(item[M]{msg: copied}, entrance{})
}

// accept is tell for messages that must not be encoded, or not again.
func (c *cell[M]) accept(msg M, by entrance) {
	if c.sys.encoding == nil && c.conf.box.overflow != block {
		c.tell(msg)
	} else {
		c.enqueue(item[M]{msg: msg}, by)
	}
}

// refit updates plain. core.mu is held.
func (c *cell[M]) refit() {
	c.plain = c.conf.box.plain() && c.conf.admission == nil && !c.bypassed && c.stashCap == 0 && c.sys.encoding == nil
}

// deliver takes a message of any type. A nil is a message if M is an interface.
func (c *cell[M]) deliver(msg any, by entrance) {
	if m, ok := payload.As[M](msg); ok {
		c.accept(m, by)
		return
	}
	c.sys.deadLetter(&c.core, msg, wrongType[M](msg))
}

// deliverAll is deliver for many messages; it waits for none of them.
func (c *cell[M]) deliverAll(msgs []any, sizes []int) {
	for i := 0; i < len(msgs); {
		i += c.deliverPlain(msgs[i:])
		if i < len(msgs) {
			c.deliver(msgs[i], arrival(sizes, i))
			i++
		}
	}
}

// deliverPlain puts the messages up to the first unsuitable one into the mailbox, and returns how
// many.
func (c *cell[M]) deliverPlain(msgs []any) (count int) {
	c.mu.Lock()
	if c.dead || !c.plain {
		c.mu.Unlock()
		return 0
	}
	for _, msg := range msgs {
		m, ok := payload.As[M](msg)
		if !ok {
			break
		}
		c.queue.put(m, &c.conf.chunks)
		count++
	}
	wake := count > 0 && !c.scheduled && !c.suspended
	if wake {
		c.scheduled = true
	}
	c.mu.Unlock()
	if wake {
		c.sys.scheduler.ready(&c.core)
	}
	return count
}

func (c *cell[M]) ref() AnyRef { return ActorRef[M]{&c.core} }

// enqueue puts an item into the mailbox and schedules the actor.
func (c *cell[M]) enqueue(it item[M], by entrance) {
	if lost, at, reason := c.put(it, by); reason != nil {
		at.reportUndelivered(lost, reason)
	}
}

// put is enqueue without the report: it returns the item that was not delivered, the cell, and why.
func (c *cell[M]) put(it item[M], by entrance) (lost item[M], at *cell[M], reason error) {
	c.mu.Lock()
	if c.bypassed && (it.task == nil || !it.task.exempt()) {
		if it.task == nil {
			if lost, at, reason = c.bypass.put(it, by); !errors.Is(reason, ErrTerminated) {
				c.mu.Unlock()
				return lost, at, reason
			}
		}
		c.bypassed = false // later messages must not overtake a task
		c.refit()
	}
	if reason := c.refusal(it); reason != nil {
		c.mu.Unlock()
		return it, c, reason
	}
	if c.conf.box.overflow == block {
		if c.queue.full(it, c.conf.box) {
			return it, c, c.await(it, by)
		}
		if c.joinsLine(it) {
			c.queueUp(&waiter[M]{item: it})
			c.mu.Unlock()
			return it, c, nil
		}
	}
	over, overflow := c.queue.push(it, c.conf.box, &c.conf.chunks)
	wake := !c.scheduled && !c.suspended
	if wake {
		c.scheduled = true
	}
	c.mu.Unlock()
	if wake {
		c.sys.scheduler.ready(&c.core)
	}
	if overflow {
		return over, c, ErrMailboxFull
	}
	return it, c, nil
}

// refusal returns why the item cannot be queued, or nil. core.mu is held.
func (c *cell[M]) refusal(it item[M]) error {
	if c.dead {
		return ErrTerminated
	}
	if c.suspended && c.stashCap > 0 && c.batch.size+c.queue.size()+c.priorities.size() >= int(c.stashCap) && !it.exempt() {
		return ErrStashFull
	}
	return nil
}

func (c *cell[M]) reportUndelivered(it item[M], reason error) {
	if d, ok := it.task.(*delivered[M]); ok {
		d.abandon(reason)
		return
	}
	if msg, report := it.undelivered(); report {
		c.sys.deadLetter(&c.core, msg, reason)
	}
}

// signal queues a system message. A stop ends the context immediately, so that a handler that waits
// gives up.
func (c *cell[M]) signal(msg systemMsg) {
	if msg.kind == sysDrain {
		c.enqueue(item[M]{task: lastTask[M]{}}, entrance{})
		return
	}
	c.mu.Lock()
	if c.dead {
		c.mu.Unlock()
		return
	}
	c.system.add(msg)
	c.urgent.Store(true)
	wake := !c.scheduled
	c.scheduled = true
	c.mu.Unlock()
	if msg.kind == sysStop {
		c.endLife() // after the message is queued: a handler that sees the end handles no other message
		c.closeToSenders()
	}
	if wake {
		c.sys.scheduler.ready(&c.core)
	}
}

// turn handles up to batchSize messages, and reports whether there may be more. A panic fails the
// actor; one recover serves the whole turn.
func (c *cell[M]) turn(s *scheduler, r *runner) (more bool) {
	halted := c.sys.halt.begun.Load()
	if halted && c.sys.halt.hold(&c.core) {
		return false
	}
	c.owner.begin()
	returned := false
	senders := c.senders // read now: at the end another turn may own c
	at := senders.enter()
	defer func() {
		senders.leave(at)
		if returned {
			return
		}
		if r := recover(); r != nil {
			more = true
			c.fail(guard.Recovered(r))
			return
		}
		// The handler has called runtime.Goexit. Its actor ends, whatever supervision says.
		s.replace(r, &c.core, func() {
			c.owner.begin()
			c.stopFailed(guard.ErrGoexit)
		})
	}()
	if halted {
		more = c.workToEnd()
	} else {
		more = c.work(batchSize)
	}
	returned = true
	return more
}

// work handles up to n things; false means that nothing is left and the turn is over.
func (c *cell[M]) work(n int) (more bool) {
	for left := n; left > 0; {
		if c.urgent.Load() {
			if c.sys.halt.begun.Load() {
				return c.workToEnd()
			}
			if msg, ok := c.nextSystem(); ok {
				c.handleSystem(msg)
				left--
				continue
			}
		}
		if c.phase == running && c.batch.size > 0 {
			left -= c.handleBatch(left)
			continue
		}
		if n-left >= spinAfter && c.conf.box.plain() { // the batch of other mailboxes is one item, however long the turn spins
			c.spin()
		}
		if !c.refillOrRest() {
			return false
		}
		left--
	}
	return true
}

// handleBatch handles up to n items of the batch, until a system message arrives or the actor no
// longer runs. It returns how many it has handled.
func (c *cell[M]) handleBatch(n int) (handled int) {
	for handled < n && c.phase == running && c.batch.size > 0 && !c.urgent.Load() {
		handled++
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
		it.task.run(c)
	} else {
		c.handleMessage(it.msg)
	}
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
	if c.sys.scheduler.virtual {
		return
	}
	for n := 0; n < spinSteps && !c.urgent.Load(); n++ {
	}
}

func (c *cell[M]) nextSystem() (msg systemMsg, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	msg, ok = c.system.take()
	c.urgent.Store(!c.system.empty())
	return msg, ok
}

// refillOrRest fetches the messages that have arrived since the batch was taken. Without any it
// ends the turn and returns false.
func (c *cell[M]) refillOrRest() bool {
	if !c.mu.TryLock() {
		c.lockWithBackoff() // as senders do, which otherwise would always win
	}
	if !c.system.empty() {
		c.mu.Unlock()
		return true
	}
	if c.phase == running {
		if msg, ok := c.queue.takeFirst(); ok {
			c.queue.refill(&c.batch, c.conf.box, &c.conf.chunks)
			c.mu.Unlock()
			c.handleMessage(msg)
			return true
		}
		if c.priorities != nil {
			if c.queue.waiting.size+c.priorities.size() > 0 {
				c.prioritize()
				return true
			}
		} else if c.queue.refill(&c.batch, c.conf.box, &c.conf.chunks) {
			c.admit()
			c.mu.Unlock()
			return true
		}
	}
	c.scheduled = false
	c.owner.end()
	c.openBypass()
	c.mu.Unlock()
	return false
}

// prioritize makes the first waiting message by priority the batch. core.mu is held, and released.
func (c *cell[M]) prioritize() {
	fresh := c.queue.waiting
	c.queue.waiting = chain[M]{}
	c.mu.Unlock()
	defer func() {
		if fresh.size > 0 { // after a panic
			c.mu.Lock()
			defer c.mu.Unlock()
			fresh.join(c.queue.waiting)
			c.queue.waiting = fresh
		}
	}()
	for it, ok := fresh.pop(&c.conf.chunks); ok; it, ok = fresh.pop(&c.conf.chunks) {
		c.priorities.add(it)
	}
	if it, ok := c.priorities.take(); ok {
		c.batch.push(it, &c.conf.chunks)
	}
}

// drain empties the mailbox.
func (c *cell[M]) drain() []item[M] {
	rest := c.batch.drain(nil, &c.conf.chunks)
	for c.priorities.size() > 0 {
		it, _ := c.priorities.take()
		rest = append(rest, it)
	}
	return c.queue.drain(rest, &c.conf.chunks)
}

// A lastTask stops the actor when its turn in the mailbox comes.
type lastTask[M any] struct{}

func (lastTask[M]) run(c *cell[M]) { c.beginStop(nil) }

func (lastTask[M]) exempt() bool { return true }

func (lastTask[M]) follows() bool { return true }

func (lastTask[M]) undelivered() (any, bool) { return nil, false }
