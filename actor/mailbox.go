package actor

import "fmt"

// A Mailbox says how many messages may wait for an actor, and what happens to more.
type Mailbox struct {
	capacity int // 0: no bound
	overflow Overflow
}

// Overflow says which message a full mailbox drops. It becomes a dead letter with
// [ErrMailboxFull].
type Overflow int

const (
	// DropNewest drops the message that has no room.
	DropNewest Overflow = iota
	// DropOldest drops the message that has waited longest.
	DropOldest
)

// Unbounded is the mailbox without a bound, the default.
func Unbounded() Mailbox { return Mailbox{} }

// Bounded is the mailbox in which n messages may wait, not counting the one being
// handled. It panics unless n is positive.
func Bounded(n int, overflow Overflow) Mailbox {
	if n <= 0 {
		panic(fmt.Sprintf("actor: mailbox bound %d is not positive", n))
	}
	return Mailbox{capacity: n, overflow: overflow}
}

// An item is what waits in a mailbox: a message, or a task that leads to one.
type item[M any] struct {
	msg  M
	task task[M] // nil for a plain message
}

// A task is run inside the actor, in its place among the messages.
type task[M any] interface {
	// run returns the next behavior, and the message that was handled, for reports.
	run(c *cell[M]) (next Behavior[M], handled any)
	// undelivered returns what to report when the task is never run, if anything.
	undelivered() (msg any, report bool)
}

func (it item[M]) undelivered() (msg any, report bool) {
	if it.task != nil {
		return it.task.undelivered()
	}
	return it.msg, true
}

// A queue holds the items of a cell: what is being worked through by the turn that
// runs, and what has come since. The mutex of the core guards it, but for batch and
// next, which belong to the turn.
type queue[M any] struct {
	waiting []item[M]
	spare   []item[M] // an emptied batch, to be filled again

	batch []item[M]
	next  int
}

const maxSpare = 1024 // larger slices are left to the garbage collector

// push adds it; over is what had to give way to it, or itself.
func (q *queue[M]) push(it item[M], box Mailbox) (over item[M], overflow bool) {
	if box.capacity == 0 || len(q.waiting) < box.capacity {
		q.waiting = append(q.waiting, it)
		return over, false
	}
	if box.overflow == DropNewest {
		return it, true
	}
	over = q.waiting[0]
	q.waiting = append(q.waiting[1:], it)
	return over, true
}

// refill makes what waits the batch, all of it, or one item of a bounded mailbox, whose
// bound counts what waits. It is called when the batch has been worked through.
func (q *queue[M]) refill(box Mailbox) bool {
	if len(q.waiting) == 0 {
		return false
	}
	if box.capacity > 0 {
		q.batch, q.next = append(q.batch[:0], q.waiting[0]), 0
		q.waiting[0] = item[M]{}
		q.waiting = q.waiting[1:]
		return true
	}
	if cap(q.batch) <= maxSpare {
		q.spare = q.batch[:0]
	}
	q.batch, q.next = q.waiting, 0
	q.waiting, q.spare = q.spare, nil
	return true
}

// pop returns the next item of the batch.
func (q *queue[M]) pop() (it item[M], ok bool) {
	if q.next == len(q.batch) {
		return it, false
	}
	it = q.batch[q.next]
	q.batch[q.next] = item[M]{} // retain nothing
	q.next++
	return it, true
}

// drain empties the queue and returns all that was in it, in order.
func (q *queue[M]) drain() []item[M] {
	rest := append(q.batch[q.next:len(q.batch):len(q.batch)], q.waiting...)
	*q = queue[M]{}
	return rest
}
