package actor

import (
	"errors"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/internal/metadata"
)

// A Mailbox determines how many messages may wait for an actor, what happens to further ones, and
// the order in which they are handled. It is a [SpawnOption]. The zero Mailbox, the default, is
// unbounded.
type Mailbox struct {
	capacity int // 0: no bound
	overflow overflow
	patience time.Duration // of block
	priority any
}

func (m Mailbox) apply(c *spawnConfig) { c.box = m }

type overflow uint8

const (
	dropNewest overflow = iota
	dropOldest
	block
)

// Bounded returns a mailbox in which at most n messages wait, not counting the one being handled. A
// message that finds it full is a dead letter with [ErrMailboxFull]; an [Ask] fails with that error
// immediately. Messages of adapters count as well; timers, ends of watched actors, and results of
// [PipeToSelf] and [AskToSelf] do not. Bounded panics unless n > 0.
func Bounded(n int) Mailbox {
	if n <= 0 {
		panic(fmt.Sprintf("actor: mailbox bound %d is not positive", n))
	}
	return Mailbox{capacity: n}
}

// DropOldest returns m with another overflow strategy: the message that has waited longest becomes
// the dead letter, instead of the new one. It panics unless m is [Bounded].
func (m Mailbox) DropOldest() Mailbox {
	m.checkBounded("DropOldest")
	m.overflow = dropOldest
	return m
}

// Block returns m with another overflow strategy: a sender waits for a place, at most for d; then
// the message is a dead letter with [ErrMailboxFull]. Use it where the senders are goroutines of
// your own that may be slowed down. A message of the actor to itself that finds no place is dropped
// immediately. Two actors that send to each other may both wait, until d ends or one of them is
// told to stop. An [Ask] waits no longer than its context.
//
// Only local senders wait. Other nodes, [AskToSelf], the event stream, and actors of the framework
// such as routers and topics do not. Their messages join the line of waiting senders instead, and
// wait there at most for d. The line holds up to 10,000 such messages, and up to 16 MiB of messages
// from other nodes; a single larger message is admitted. Messages beyond these limits are dead
// letters with [ErrMailboxFull] on this node, even if the sender has ended meanwhile. The end of a
// watched actor and [Context.Drain] take effect after the messages that were in the line before
// them.
//
// Block panics unless m is [Bounded] and d > 0.
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

// Prioritized returns an unbounded mailbox from which the message with the lowest priority number
// is taken first, and messages with equal numbers in order of arrival. Everything that was not sent
// to the actor's ref comes before all messages: timers, the ends of watched actors, results of
// [PipeToSelf], and messages of adapters.
//
// priority is called inside the actor, once for each message. A panic in it is a failure of the
// actor at that message. Spawn panics if M is not the actor's message type.
func Prioritized[M any](priority func(msg M) int) Mailbox { return Mailbox{priority: priority} }

func (m Mailbox) plain() bool { return m.capacity == 0 && m.priority == nil }

type item struct {
	msg     any
	task    task              // nil for a plain message
	request *metadata.Request // of a plain message that is the request of an ask
}

type task interface {
	run(c *cell)
	// exempt reports whether no bound counts the task: it has no sender that could deal with
	// its loss.
	exempt() bool
	undelivered() (msg any, report bool)
}

// unsent is part of tasks without a sender: no bound counts them, and their loss is not reported.
type unsent struct{}

func (unsent) exempt() bool { return true }

func (unsent) undelivered() (any, bool) { return nil, false }

func (it *item) exempt() bool { return it.task != nil && it.task.exempt() }

func (it *item) undelivered() (msg any, report bool) {
	if it.task != nil {
		return it.task.undelivered()
	}
	return it.msg, true
}

// A follower is a task that no bound counts, but that must not overtake earlier messages.
type follower interface{ follows() bool }

type trailing struct{ unsent }

func (trailing) follows() bool { return true }

func (it *item) follows() bool {
	f, ok := it.task.(follower)
	return ok && f.follows()
}

// priorities is a binary heap, which the turn owns.
type priorities struct {
	priority func(msg any) int
	entries  []prioritized
	fresh    []item
	came     uint64 // how many items have come so far
	last     bool   // the actor ends when those that have come have been handled
}

type prioritized struct {
	item     item
	class    int8 // see add
	priority int
	number   uint64
}

func (p *prioritized) before(q *prioritized) bool {
	switch {
	case p.class != q.class:
		return p.class < q.class
	case p.priority != q.priority:
		return p.priority < q.priority
	}
	return p.number < q.number
}

// Tasks come before messages, and messages before the end by [Context.Drain], which later messages
// do not delay. It calls the user's function.
func (r *priorities) add(it item) {
	e := prioritized{item: it, number: r.came}
	r.came++
	plain := it.plain()
	switch task := plain.task.(type) {
	case nil:
		e.class, e.priority = r.ofMessages(), r.priority(plain.msg)
	case *delivered:
		e.class, e.priority = r.ofMessages(), r.ofDelivered(task)
	case lastTask:
		e.class, r.last = 2, true
	}
	r.entries = append(r.entries, e)
	for at := len(r.entries) - 1; at > 0; {
		parent := (at - 1) / 2
		if !r.entries[at].before(&r.entries[parent]) {
			break
		}
		r.entries[at], r.entries[parent] = r.entries[parent], r.entries[at]
		at = parent
	}
}

func (r *priorities) ofMessages() int8 {
	if r.last {
		return 3
	}
	return 1
}

// If the user's function panics, it reports the outcome of d.
func (r *priorities) ofDelivered(d *delivered) int {
	found := false
	defer func() {
		if !found {
			d.abandon(errNoPriority)
		}
	}()
	p := r.priority(d.msg)
	found = true
	return p
}

var errNoPriority = errors.New("actor: the priority function of the mailbox failed at the message")

func (r *priorities) take() (it item, ok bool) {
	end := len(r.entries) - 1
	if end < 0 {
		return it, false
	}
	it = r.entries[0].item
	r.entries[0], r.entries[end] = r.entries[end], prioritized{} // retain nothing
	if r.entries = r.entries[:end]; end == 0 {
		r.entries = nil
	}
	r.sink()
	return it, true
}

func (r *priorities) sink() {
	for at := 0; ; {
		first := at
		for child := 2*at + 1; child <= 2*at+2 && child < len(r.entries); child++ {
			if r.entries[child].before(&r.entries[first]) {
				first = child
			}
		}
		if first == at {
			return
		}
		r.entries[at], r.entries[first] = r.entries[first], r.entries[at]
		at = first
	}
}

func (r *priorities) size() int {
	if r == nil {
		return 0
	}
	return len(r.entries)
}
