package actor

import (
	"errors"
	"math"
	"sync/atomic"

	"github.com/understudy-go/understudy/internal/metadata"
	"github.com/understudy-go/understudy/internal/payload"
)

// An inbox is the part of a cell to which senders write: what waits there, and whether the actor
// has to be woken. The turn takes from it.
//
// The order of the fields keeps what each message changes on few cache lines. With the core in the
// middle of the cell, a tell took twice as long (go test ./actor -run '^$' -bench Tell).
type inbox[M any] struct {
	core       core
	queue      queue[M]   // guarded by core.mu
	system     systemMsgs // to be handled before messages; likewise
	conf       *config[M]
	*extras[M]             // see own
	urgent     atomic.Bool // there are system messages; read by the turn
	epoch      uint32      // counts incarnations; owned by the turn
	batch      chain[M]    // what the turn handles next; guarded by core.mu while suspended
	tally      tally
	life       atomic.Pointer[life] // nil until it is needed
}

func (b *inbox[M]) ownLife() *atomic.Pointer[life] { return &b.life }

// tell puts msg into the mailbox. This is the fast way of an unbounded mailbox.
func (b *inbox[M]) tell(msg M) {
	if b.core.flags.has(bypassed) {
		b.tellChild(msg)
		return
	}
	if !b.core.mu.TryLock() {
		b.core.lockWithBackoff()
	}
	if b.core.dead || !b.core.plain {
		b.core.mu.Unlock()
		b.tellAside(msg)
		return
	}
	b.putPlain(msg)
}

// tellCell is the tell of the port of cells, and tellCellBy its tellBy.
func tellCell[M any](c *core, msg M) { c.impl.(*cell[M]).tell(msg) }

func tellCellBy[M any](c *core, msg M, by entrance) (unfit error) {
	to := c.impl.(*cell[M])
	copied, err := carried(c, msg)
	if err != nil {
		c.sys.deadLetter(c, msg, err)
		return err
	}
	if !by.asks || to.conf.box.capacity == 0 || to.conf.box.overflow == dropOldest {
		to.accept(copied, by)
		return nil
	}
	lost, at, reason := to.put(item[M]{msg: copied}, by)
	if reason != nil {
		at.reportUndelivered(lost, reason)
	}
	if errors.Is(reason, ErrMailboxFull) {
		return reason
	}
	return nil
}

// putPlain puts msg into the mailbox, which is plain. core.mu is held, and released.
func (b *inbox[M]) putPlain(msg M) {
	if last := b.queue.waiting.tail; last != nil && last.hasPlace() {
		last.msgs = append(last.msgs, msg) // a turn is due already
		b.queue.waiting.size++
		b.core.mu.Unlock()
		return
	}
	b.queue.put(msg, &b.conf.chunks)
	wake := !b.core.scheduled && !b.core.suspended
	if wake {
		b.core.scheduled = true
	}
	b.core.mu.Unlock()
	if wake {
		b.core.sys.scheduler.ready(&b.core)
	}
}

// tellAside is tell for a cell that is not plain.
func (b *inbox[M]) tellAside(msg M) {
	copied, err := carried(&b.core, msg)
	if err != nil {
		b.core.sys.deadLetter(&b.core, msg, err)
		return
	}
	b.enqueue(item[M]{msg: copied}, entrance{})
}

// accept is tell for messages that must not be encoded, or not again.
func (b *inbox[M]) accept(msg M, by entrance) {
	if b.core.sys.encoding == nil && b.conf.box.overflow != block && by.metadata.IsEmpty() {
		b.tell(msg)
	} else {
		b.enqueue(item[M]{msg: msg}, by)
	}
}

// refit updates plain. core.mu is held.
func (b *inbox[M]) refit() {
	b.core.plain = b.conf.box.plain() && b.conf.admission == nil && !b.core.flags.has(bypassed|resting) && b.core.stashCap == 0 && b.core.sys.encoding == nil
}

// deliver takes a message of any type. A nil is a message if M is an interface.
func (b *inbox[M]) deliver(msg any, by entrance) {
	if m, ok := payload.As[M](msg); ok {
		b.accept(m, by)
		return
	}
	b.core.sys.deadLetter(&b.core, msg, wrongType[M](msg))
}

// deliverAll is deliver for many messages; it waits for none of them.
func (b *inbox[M]) deliverAll(msgs []any, sizes []int) {
	for i := 0; i < len(msgs); {
		i += b.deliverPlain(msgs[i:])
		if i < len(msgs) {
			b.deliver(msgs[i], arrival(sizes, i))
			i++
		}
	}
}

// deliverPlain puts the messages up to the first unsuitable one into the mailbox, and returns how
// many.
func (b *inbox[M]) deliverPlain(msgs []any) (count int) {
	b.core.mu.Lock()
	if b.core.dead || !b.core.plain {
		b.core.mu.Unlock()
		return 0
	}
	for _, msg := range msgs {
		m, ok := payload.As[M](msg)
		if !ok {
			break
		}
		b.queue.put(m, &b.conf.chunks)
		count++
	}
	wake := count > 0 && !b.core.scheduled && !b.core.suspended
	if wake {
		b.core.scheduled = true
	}
	b.core.mu.Unlock()
	if wake {
		b.core.sys.scheduler.ready(&b.core)
	}
	return count
}

func (b *inbox[M]) ref() AnyRef { return ActorRef[M]{&b.core} }

// enqueue puts an item into the mailbox and schedules the actor.
func (b *inbox[M]) enqueue(it item[M], by entrance) {
	if lost, at, reason := b.put(it, by); reason != nil {
		at.reportUndelivered(lost, reason)
	}
}

// put is enqueue without the report: it returns the item that was not delivered, the cell, and why.
func (b *inbox[M]) put(it item[M], by entrance) (lost item[M], at *inbox[M], reason error) {
	it, by.metadata = it.with(by.metadata), metadata.Metadata{}
	b.core.mu.Lock()
	if b.core.flags.has(bypassed) && (it.task == nil || !it.task.exempt()) {
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
		if b.queue.full(it, b.conf.box) {
			return it, b, b.senders.await(it, by)
		}
		if b.senders.isBefore(it) {
			b.senders.push(&waiter[M]{item: it})
			b.core.mu.Unlock()
			return it, b, nil
		}
	}
	over, overflow := b.queue.push(it, b.conf.box, &b.conf.chunks)
	wake := !b.core.scheduled && !b.core.suspended
	if wake {
		b.core.scheduled = true
	}
	b.core.mu.Unlock()
	if wake {
		b.core.sys.scheduler.ready(&b.core)
	}
	if overflow {
		return over, b, ErrMailboxFull
	}
	return it, b, nil
}

// refusal returns why the item cannot be queued, or nil. core.mu is held.
func (b *inbox[M]) refusal(it item[M]) error {
	if b.core.dead {
		return ErrTerminated
	}
	if b.core.flags.has(resting) && !it.exempt() {
		return errResting
	}
	if b.core.suspended && b.core.stashCap > 0 && b.batch.size+b.queue.size()+b.priorities.size() >= int(b.core.stashCap) && !it.exempt() {
		return ErrStashFull
	}
	return nil
}

func (b *inbox[M]) reportUndelivered(it item[M], reason error) {
	if d, ok := it.plain().task.(*delivered[M]); ok {
		d.abandon(reason)
		return
	}
	if late(b, it, reason) {
		return
	}
	if msg, report := it.undelivered(); report {
		b.core.sys.deadLetter(&b.core, msg, reason)
	}
}

// signal queues a system message. A stop ends the context immediately, so that a handler that waits
// gives up.
func (b *inbox[M]) signal(msg systemMsg) {
	if msg.kind == sysDrain {
		b.enqueue(item[M]{task: &lastTask[M]{}}, entrance{})
		return
	}
	b.core.mu.Lock()
	if b.core.dead {
		b.core.mu.Unlock()
		return
	}
	b.system.add(msg)
	b.urgent.Store(true)
	wake := !b.core.scheduled
	b.core.scheduled = true
	b.core.mu.Unlock()
	if msg.kind == sysStop {
		b.core.endLife(&b.life)           // after the message is queued: a handler that sees the end handles no other message
		if b.conf.box.overflow == block { // else only the turn may read the extras
			b.senders.close()
		}
	}
	if wake {
		b.core.sys.scheduler.ready(&b.core)
	}
}

func (b *inbox[M]) nextSystem() (msg systemMsg, ok bool) {
	b.core.mu.Lock()
	defer b.core.mu.Unlock()
	msg, ok = b.system.take()
	b.urgent.Store(!b.system.empty())
	return msg, ok
}

// prioritize makes the first waiting message by priority the batch. core.mu is held, and released.
func (b *inbox[M]) prioritize() {
	fresh := b.queue.waiting
	b.queue.waiting = chain[M]{}
	b.core.mu.Unlock()
	defer func() {
		if fresh.size > 0 { // after a panic
			b.core.mu.Lock()
			defer b.core.mu.Unlock()
			fresh.join(b.queue.waiting)
			b.queue.waiting = fresh
		}
	}()
	for it, ok := fresh.pop(&b.conf.chunks); ok; it, ok = fresh.pop(&b.conf.chunks) {
		b.priorities.add(it)
	}
	if it, ok := b.priorities.take(); ok {
		b.batch.push(it, &b.conf.chunks)
	}
}

// drain empties the mailbox.
func (b *inbox[M]) drain() []item[M] {
	rest := b.batch.drain(nil, &b.conf.chunks)
	for b.priorities.size() > 0 {
		it, _ := b.priorities.take()
		rest = append(rest, it)
	}
	return b.queue.drain(rest, &b.conf.chunks)
}

func (b *inbox[M]) setSuspended(suspended bool, capacity int) {
	if suspended {
		b.closeBypass()
	}
	b.core.mu.Lock()
	defer b.core.mu.Unlock()
	b.suspend(suspended, capacity)
}

// suspend is setSuspended for a caller that holds core.mu and has closed the bypass.
func (b *inbox[M]) suspend(suspended bool, capacity int) {
	b.core.suspended, b.core.stashCap, b.core.unborn = suspended, int32(min(capacity, math.MaxInt32)), false
	b.refit()
}

// closeDown suspends the actor for good, and takes no more children. It returns those that live;
// awaited is false without any to wait for.
func (b *inbox[M]) closeDown() (children []*core, awaited bool) {
	b.closeBypass()
	b.core.mu.Lock()
	defer b.core.mu.Unlock()
	b.suspend(true, 0)
	b.core.closed = true
	return b.core.awaitChildren()
}

func (b *inbox[M]) setUrgent() { b.urgent.Store(true) }
