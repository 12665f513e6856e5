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
	run(c *cell[M])
	// exempt says that the task may wait whatever bound there is: as nobody has told it,
	// nobody would know what it means that it is gone.
	exempt() bool
	// undelivered returns what to report when the task is never run, if anything.
	undelivered() (msg any, report bool)
}

func (it item[M]) exempt() bool { return it.task != nil && it.task.exempt() }

func (it item[M]) undelivered() (msg any, report bool) {
	if it.task != nil {
		return it.task.undelivered()
	}
	return it.msg, true
}
