package actor

import (
	"fmt"
	"time"
)

// A Mailbox says how many messages may wait for an actor, what happens to more, and in
// which order they are handled. It is a [SpawnOption]. The zero Mailbox, which an actor has
// without that option, has no bound.
type Mailbox struct {
	capacity int // 0: no bound
	overflow overflow
	patience time.Duration // of block
	priority any           // func(M) int, or nil
}

func (m Mailbox) apply(c *spawnConfig) { c.box = m }

// overflow says what happens to a message that has no room.
type overflow uint8

const (
	dropNewest overflow = iota
	dropOldest
	block
)

// Bounded is the mailbox in which n messages may wait, not counting the one being
// handled. A message that has no room is a dead letter with [ErrMailboxFull], and an [Ask]
// fails with that at once. It panics unless n is positive.
func Bounded(n int) Mailbox {
	if n <= 0 {
		panic(fmt.Sprintf("actor: mailbox bound %d is not positive", n))
	}
	return Mailbox{capacity: n}
}

// DropOldest is m, where the message that has waited longest gives way to a new one: it is
// the dead letter. It panics unless m is [Bounded].
func (m Mailbox) DropOldest() Mailbox {
	m.checkBounded("DropOldest")
	m.overflow = dropOldest
	return m
}

// Block is m, where whoever tells waits until there is room, but no longer than d; then
// the message is a dead letter with [ErrMailboxFull]. It is the exception to the rule that Tell
// does not block, so use it where the tellers are goroutines of your own that may be slowed
// down. The actor itself does not wait: what it tells itself without room is dropped at once.
// Two actors that tell each other may wait for each other, as long as that, or until one of
// them is told to stop. An [Ask] waits no longer than its context.
//
// A slow actor slows its own tellers only. These do not wait: other nodes, [AskToSelf],
// [ActorRef.Deliver], the event stream, and actors of the framework such as routers and
// topics. The mailbox keeps what they tell beyond its bound, in one line with the tellers that
// wait: up to 10,000 messages, and up to 16 MiB of those from other nodes, or one message.
// Each waits no longer than d. What is beyond these limits is a dead letter with
// [ErrMailboxFull], on this node. It makes no difference that the teller has ended meanwhile.
// The end of a watched actor, and [Context.Drain], come after what was in the line before.
//
// It panics unless m is [Bounded] and d is positive.
func (m Mailbox) Block(d time.Duration) Mailbox {
	m.checkBounded("Block")
	if d <= 0 {
		panic(fmt.Sprintf("actor: time to wait for room in a mailbox %v is not positive", d))
	}
	m.overflow, m.patience = block, d
	return m
}

func (m Mailbox) checkBounded(what string) {
	if m.capacity == 0 {
		panic("actor: " + what + " is for a mailbox that is Bounded")
	}
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
