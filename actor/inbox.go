package actor

import (
	"errors"
	"math"
	"slices"
	"sync/atomic"

	"github.com/understudy-go/understudy/internal/metadata"
)

// An inbox is the part of a cell that senders use, or say how to use.
type inbox struct {
	urgent  atomic.Bool // there are system messages; read by the turn
	due     systemKinds // of those there are; guarded by core.mu
	batched int32       // how many items the batch has; owned by the turn, guarded by core.mu while suspended
	epoch   uint32      // counts incarnations; owned by the turn
	tally   tally
	conf    *config
	*extras                      // see own
	life    atomic.Pointer[life] // nil until it is needed
	box     typed
	core    core
}

// core.mu is held.
func (b *inbox) refit() {
	b.core.plain = mayBePlain(b) && !b.core.dead && !b.core.flags.has(bypassed|resting) && b.core.stashCap == 0 && obstacleOf(&b.core.guarded) == nil
}

// False means that core.plain never is true.
func mayBePlain(b *inbox) bool {
	return b.conf.box.plain() && b.conf.admission == nil && b.core.sys.encoding == nil
}

// core.mu is held.
func (b *inbox) full(it item) bool {
	return b.conf.box.capacity > 0 && int(b.core.waiting-b.core.exempt) >= b.conf.box.capacity && !it.exempt()
}

func (b *inbox) post(it item, by entrance) {
	if in := b.inner(); in != nil {
		in.of.post(in.item(it), by)
		return
	}
	b.enqueue(it, &by)
}

func (b *inbox) enqueue(it item, by *entrance) {
	if lost, at, reason := b.put(it, by); reason != nil {
		at.reportUndelivered(lost, reason)
	}
}

func (b *inbox) put(it item, by *entrance) (lost item, at *inbox, reason error) {
	if !by.metadata.IsEmpty() {
		it, by.metadata = it.with(by.metadata), metadata.Metadata{}
	}
	b.core.mu.Lock()
	if obstacleOf(&b.core.guarded) != nil {
		defer explainNew(b, it)()
	}
	if b.core.flags.has(bypassed) && (it.task == nil || !it.task.exempt()) {
		// The mutex of the child is taken under this one, never the other way round. If the child
		// has ended, the message stays with the actor.
		if it.task == nil {
			if lost, at, reason = b.bypass.Load().put(it, by); !errors.Is(reason, ErrTerminated) {
				b.core.mu.Unlock()
				return lost, at, reason
			}
		}
		b.core.flags.clear(bypassed) // later messages must not overtake a task
		b.refit()
	}
	if reason := b.refusal(it); reason != nil {
		b.core.mu.Unlock()
		return it, b, reason
	}
	if b.conf.box.overflow == block {
		if b.full(it) {
			return it, b, b.senders.await(it, *by)
		}
		if b.senders.isBefore(it) {
			b.senders.push(&waiter{item: it})
			b.core.mu.Unlock()
			return it, b, nil
		}
	}
	over, overflow := b.box.push(it)
	b.core.unlockAndWake()
	if overflow {
		return over, b, ErrMailboxFull
	}
	return it, b, nil
}

// core.mu is held.
func (b *inbox) refusal(it item) error {
	if b.core.dead {
		return ErrTerminated
	}
	if b.core.flags.has(resting) && !it.exempt() {
		return errResting
	}
	if b.core.suspended && b.core.stashCap > 0 && int(b.batched+b.core.waiting)+b.priorities.size() >= int(b.core.stashCap) && !it.exempt() {
		return ErrStashFull
	}
	return nil
}

func (b *inbox) reportUndelivered(it item, reason error) {
	if d, ok := it.plain().task.(*delivered); ok {
		d.abandon(reason)
		return
	}
	if b.late(it, reason) {
		return
	}
	if msg, report := it.undelivered(); report {
		b.core.sys.deadLetter(&b.core, msg, reason)
	}
}

// A stop ends the context immediately, so that a handler that waits gives up.
func (b *inbox) signal(msg systemMsg) {
	if msg.kind == sysDrain {
		b.enqueue(item{task: lastTask{}}, &entrance{})
		return
	}
	b.core.mu.Lock()
	if b.core.dead {
		b.core.mu.Unlock()
		return
	}
	b.addSystem(msg)
	b.urgent.Store(true)
	wake := !b.core.scheduled
	b.core.scheduled = true
	checkState(&b.core)
	b.core.mu.Unlock()
	if msg.kind == sysStop {
		b.endLife()                       // after the message is queued: a handler that sees the end handles no other message
		if b.conf.box.overflow == block { // else only the turn may read the extras
			b.senders.close()
		}
	}
	if wake {
		b.core.sys.scheduler.ready(&b.core)
	}
}

func (b *inbox) nextSystem() (msg systemMsg, ok bool) {
	b.core.mu.Lock()
	defer b.core.mu.Unlock()
	msg, ok = b.takeSystem()
	b.urgent.Store(b.systemWaits())
	return msg, ok
}

// core.mu is held, and released if it returns true.
func (c *cell) prioritize() (handled bool) {
	n := int(c.core.waiting) + c.priorities.size()
	if n == 0 {
		return false
	}
	c.tally.drawn = drawn(n)
	fresh := c.box.drainQueue(c.priorities.fresh[:0])
	c.core.mu.Unlock()
	c.priorities.fresh = fresh
	added := 0
	defer func() {
		if added < len(fresh) { // the function of the user has panicked, at the item before
			c.returnFresh(slices.Clone(fresh[added:]))
		}
		clear(fresh) // retain nothing
	}()
	for _, it := range fresh {
		added++
		c.priorities.add(it)
	}
	if c.conf.admission != nil && c.refused() {
		return true
	}
	it, ok := c.priorities.take()
	if !ok {
		return true
	}
	c.tally.handled++
	switch {
	case it.task != nil:
		c.runTask(it.task)
	case it.request == nil:
		c.box.handle(it.msg)
	default:
		c.runner.Load().now = metadata.Now() // work sets it for batches only
		if why := take(c, it.request); why != nil {
			c.reportUndelivered(item{msg: it.msg}, why)
		} else {
			handleAnyRequest(c, it.msg, c.box.handle)
		}
	}
	return true
}

func (c *cell) returnFresh(items []item) {
	c.core.mu.Lock()
	defer c.core.mu.Unlock()
	for _, it := range c.box.drainQueue(items) {
		c.box.push(it)
	}
}

func (b *inbox) drain() []item {
	rest := b.box.drainBatch(nil)
	for b.priorities.size() > 0 {
		it, _ := b.priorities.take()
		rest = append(rest, it)
	}
	b.batched = 0
	return b.box.drainQueue(rest)
}

// items is not empty.
func (b *inbox) putBack(items []item) {
	if in := b.inner(); in != nil {
		in.putBack(items)
		return
	}
	b.core.mu.Lock()
	defer b.core.mu.Unlock()
	b.batched += int32(len(items)) //nolint:gosec // memory ends before
	b.box.putBack(items)
}

func (b *inbox) setSuspended(suspended bool, capacity int) {
	if suspended {
		b.closeBypass()
	}
	b.core.mu.Lock()
	defer b.core.mu.Unlock()
	b.suspend(suspended, capacity)
}

// core.mu is held, and the bypass is closed.
func (b *inbox) suspend(suspended bool, capacity int) {
	b.core.suspended, b.core.stashCap = suspended, int32(min(capacity, math.MaxInt32)) //nolint:gosec // just bounded
	b.core.flags.clear(notStarted)
	b.refit()
	checkState(&b.core)
}

// The actor takes no more children. awaited is false if none has to end first.
func (b *inbox) closeDown() (children []*core, awaited bool) {
	b.closeBypass()
	b.core.mu.Lock()
	defer b.core.mu.Unlock()
	b.suspend(true, 0)
	b.core.closed = true
	return b.core.awaitChildren()
}

func (b *inbox) setUrgent() { b.urgent.Store(true) }
