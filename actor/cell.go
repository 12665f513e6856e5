package actor

import (
	"errors"
	"github.com/understudy-go/understudy/internal/payload"
	"sync/atomic"

	"github.com/understudy-go/understudy/internal/guard"
)

// batchSize is how many messages a turn handles before it lets others run.
const batchSize = 300

// A cell is an actor: its queues, its behavior and the turn that brings them together.
// A turn runs in a goroutine of the scheduler while there is something to do; everything
// below "owned by the turn" is touched by it alone.
type cell[M any] struct {
	core

	queue   queue[M]    // guarded by core.mu
	system  systemMsgs  // to be handled before messages; likewise
	initial Behavior[M] // it was spawned with

	conf       *config[M]
	*extras[M] // see own
	ctx        Context[M]
	onMessage  MessageHandler[M] // owned by the turn, as all below is
	onSignal   SignalHandler[M]
	batch      chain[M]    // what the turn works off; but guarded by core.mu while suspended
	urgent     atomic.Bool // there are system messages; read by the turn
	epoch      uint32      // counts incarnations, so that what belongs to an old one is recognised
	owner      owner
	scratch    Next[M]
}

// phase is where an actor is in its life.
type phase uint8

const (
	starting   phase = iota // no behavior yet
	running                 //
	restarting              // waits for children or for the backoff
	stopping                // waits for children
	stopped
)

func (c *cell[M]) tell(msg M) {
	if !c.mu.TryLock() {
		c.contend()
	}
	if c.dead || !c.plain {
		c.mu.Unlock()
		c.tellAside(msg)
		return
	}
	if last := c.queue.waiting.tail; last != nil && last.hasPlace() {
		last.msgs = append(last.msgs, msg) // others wait: there is nobody to wake
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

// tellAside is tell where the way is not plain.
func (c *cell[M]) tellAside(msg M) {
	copied, err := carried(&c.core, msg)
	if err != nil {
		c.sys.deadLetter(&c.core, msg, err)
		return
	}
	c.enqueue(item[M]{msg: copied}, entrance{})
}

// accept is tell for what has been encoded before, or need not be.
func (c *cell[M]) accept(msg M, by entrance) {
	if c.sys.encoding == nil && c.conf.box.overflow != block {
		c.tell(msg)
	} else {
		c.enqueue(item[M]{msg: msg}, by)
	}
}

// refit finds out again whether the way of messages is plain. core.mu is held.
func (c *cell[M]) refit() {
	c.plain = c.conf.box.plain() && c.conf.gate == nil && !c.diverted && c.stashCap == 0 && c.sys.encoding == nil
}

// deliver takes a message of any type. A nil is a message where M is an interface.
func (c *cell[M]) deliver(msg any, by entrance) {
	if m, ok := payload.As[M](msg); ok {
		c.accept(m, by)
		return
	}
	c.sys.deadLetter(&c.core, msg, wrongType[M](msg))
}

// deliverAll is deliver for many, none of which is waited for.
func (c *cell[M]) deliverAll(msgs []any, sizes []int) {
	for i := 0; i < len(msgs); {
		i += c.deliverPlain(msgs[i:])
		if i < len(msgs) {
			c.deliver(msgs[i], arrival(sizes, i))
			i++
		}
	}
}

// deliverPlain takes messages up to the first that is not plain, at once, and returns how many.
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

// enqueue puts it into the queue and sees that a turn comes.
func (c *cell[M]) enqueue(it item[M], by entrance) {
	if lost, at, reason := c.put(it, by); reason != nil {
		at.reportUndelivered(lost, reason)
	}
}

// put is enqueue without the report: it returns what was not delivered, where and why.
func (c *cell[M]) put(it item[M], by entrance) (lost item[M], at *cell[M], reason error) {
	c.mu.Lock()
	if c.diverted && (it.task == nil || !it.task.exempt()) {
		if it.task == nil {
			if lost, at, reason = c.detour.put(it, by); !errors.Is(reason, ErrTerminated) {
				c.mu.Unlock()
				return lost, at, reason
			}
		}
		c.diverted = false // what is told after a task must not overtake it
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

// refusal says why it cannot be queued, if so. core.mu is held.
func (c *cell[M]) refusal(it item[M]) error {
	if c.dead {
		return ErrTerminated
	}
	if c.suspended && c.stashCap > 0 && c.batch.size+c.queue.size()+c.ranking.size() >= int(c.stashCap) && !it.exempt() {
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

// signal queues a system message. A stop is visible in the context at once, so that a
// handler that waits for something gives up.
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
		c.endLife() // not before it is queued: who sees the end handles nothing else
		c.closeRoom()
	}
	if wake {
		c.sys.scheduler.ready(&c.core)
	}
}

// turn handles a batch, and reports whether there may be more. A panic ends it as a
// failure of the actor; one recover serves a whole batch.
func (c *cell[M]) turn(s *scheduler, r *runner) (more bool) {
	halted := c.sys.halt.begun.Load()
	if halted && c.sys.halt.hold(&c.core) {
		return false
	}
	c.owner.begin()
	returned := false
	room := c.room // at the end it may be for another turn to look at c
	at := room.enter()
	defer func() {
		room.leave(at)
		if returned {
			return
		}
		if r := recover(); r != nil {
			more = true
			c.fail(guard.Recovered(r))
			return
		}
		// The handler has ended this goroutine. Its actor ends, whatever supervision says,
		// as the goroutine is lost on purpose.
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

// work does up to n things; false means that there is nothing left and the turn is over.
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
		if n-left >= lingerAfter && c.conf.box.plain() { // of others a batch is one item, however long it lingers
			c.linger()
		}
		if !c.refillOrRest() {
			return false
		}
		left--
	}
	return true
}

// handleBatch works off up to n items of the batch, until something urgent comes or the
// actor does not run any more. It returns how many there were.
func (c *cell[M]) handleBatch(n int) (handled int) {
	for handled < n && c.phase == running && c.batch.size > 0 && !c.urgent.Load() {
		handled++
		if c.conf.gate == nil || !c.shut() {
			c.handle()
		}
	}
	return handled
}

// handle works off the first item of the batch.
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
	// lingerAfter is how much a turn must have done to wait for more.
	lingerAfter = 16
	// lingerLooks makes about half a microsecond.
	lingerLooks = 1000
)

// linger gives those who tell the time to tell more than one message: who comes back too
// soon for each of them slows them down.
func (c *cell[M]) linger() {
	if c.sys.scheduler.virtual {
		return
	}
	for n := 0; n < lingerLooks && !c.urgent.Load(); n++ {
	}
}

func (c *cell[M]) nextSystem() (msg systemMsg, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	msg, ok = c.system.take()
	c.urgent.Store(!c.system.empty())
	return msg, ok
}

// refillOrRest gets what has come since; there is nothing left of what came before.
func (c *cell[M]) refillOrRest() bool {
	if !c.mu.TryLock() {
		c.contend() // as those do who tell: else they would always come first
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
		if c.ranking != nil {
			if c.queue.waiting.size+c.ranking.size() > 0 {
				c.rank()
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
	c.divert()
	c.mu.Unlock()
	return false
}

// rank makes the first of what waits in a mailbox with priorities the batch. core.mu is
// held, and given back.
func (c *cell[M]) rank() {
	fresh := c.queue.waiting
	c.queue.waiting = chain[M]{}
	c.mu.Unlock()
	defer func() {
		if fresh.size > 0 { // a panic has left it
			c.mu.Lock()
			defer c.mu.Unlock()
			fresh.join(c.queue.waiting)
			c.queue.waiting = fresh
		}
	}()
	for it, ok := fresh.pop(&c.conf.chunks); ok; it, ok = fresh.pop(&c.conf.chunks) {
		c.ranking.add(it)
	}
	if it, ok := c.ranking.take(); ok {
		c.batch.push(it, &c.conf.chunks)
	}
}

// drain empties the mailbox.
func (c *cell[M]) drain() []item[M] {
	rest := c.batch.drain(nil, &c.conf.chunks)
	for c.ranking.size() > 0 {
		it, _ := c.ranking.take()
		rest = append(rest, it)
	}
	return c.queue.drain(rest, &c.conf.chunks)
}

// A lastTask stops the actor when its turn comes.
type lastTask[M any] struct{}

func (lastTask[M]) run(c *cell[M]) { c.beginStop(nil) }

func (lastTask[M]) exempt() bool { return true }

func (lastTask[M]) follows() bool { return true }

func (lastTask[M]) undelivered() (any, bool) { return nil, false }
