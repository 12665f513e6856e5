package actor

import (
	"fmt"
	"time"
)

// A Mailbox says how many messages may wait for an actor, what happens to more, and in
// which order they are handled.
type Mailbox struct {
	capacity int // 0: no bound
	overflow Overflow
	patience time.Duration // with Block
	priority any           // func(M) int, or nil
}

// Overflow says what happens to a message that has no room. Whatever is dropped is a dead
// letter with [ErrMailboxFull].
type Overflow int

const (
	// DropNewest drops the message that has no room.
	DropNewest Overflow = iota
	// DropOldest drops the message that has waited longest.
	DropOldest
	// Fail drops the message that has no room, and lets [Ask] know: it ends at once with
	// [ErrMailboxFull].
	Fail
	// Block lets whoever tells wait until there is room, but no longer than a second or
	// what [Mailbox.Within] says; then it is as with Fail. It is the exception to the rule
	// that Tell does not block, so use it where those who tell are goroutines of your own
	// that may be slowed down. The actor itself does not wait: what it tells itself without
	// room is dropped at once. Two actors that tell each other may wait for each other, for
	// as long as that.
	Block
)

// defaultPatience is how long a tell waits for room, unless Within says otherwise.
const defaultPatience = time.Second

// Unbounded is the mailbox without a bound, the default.
func Unbounded() Mailbox { return Mailbox{} }

// Bounded is the mailbox in which n messages may wait, not counting the one being
// handled. It panics unless n is positive.
func Bounded(n int, overflow Overflow) Mailbox {
	if n <= 0 {
		panic(fmt.Sprintf("actor: mailbox bound %d is not positive", n))
	}
	return Mailbox{capacity: n, overflow: overflow, patience: defaultPatience}
}

// Within is m with another time that a tell waits for room, see [Block]. It panics unless
// d is positive and m blocks.
func (m Mailbox) Within(d time.Duration) Mailbox {
	if m.capacity == 0 || m.overflow != Block {
		panic("actor: only a mailbox that is Bounded with Block has a time to wait")
	}
	if d <= 0 {
		panic(fmt.Sprintf("actor: time to wait for room in a mailbox %v is not positive", d))
	}
	m.patience = d
	return m
}

// Prioritized is an unbounded mailbox from which the message with the lowest priority
// number is taken first; those with equal numbers in the order in which they came. What
// nobody tells comes before all of them: timers, the ends of watched actors, the results
// of piped functions; so does what adapters bring. priority runs inside the actor, once
// for each message; a panic in it is a failure of the actor at that message. Spawn panics
// when M is not the actor's type.
func Prioritized[M any](priority func(msg M) int) Mailbox { return Mailbox{priority: priority} }

// plain reports whether messages are taken as they come, however many.
func (m Mailbox) plain() bool { return m.capacity == 0 && m.priority == nil }

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
