package actor

import (
	"reflect"
	"slices"
	"sync"

	"github.com/understudy-go/understudy/internal/metadata"
)

// A queue holds what has arrived at a cell since a turn took its batch. The mutex of the core
// guards it, which also has the counts of the items.
type queue[M any] struct {
	rest  chain[M]
	of    *common[M]
	first M                 // comes before rest, if core.alone says so: a shallow mailbox needs no chunk
	asked *metadata.Request // the request, if first is one
}

// tryPut also wakes the actor. False means that the mailbox is not plain, and nothing was done.
// With instead, msg is for the parent, which was bypassed a moment ago.
func tryPut[M any](c *core, q *queue[M], msg M, r *metadata.Request, instead bool) bool {
	if !c.mu.TryLock() {
		c.lockWithBackoff()
	}
	if !c.plain || instead && !c.instead {
		c.mu.Unlock()
		return false
	}
	// The usual case under load: others wait, so the actor is scheduled or suspended, and a place
	// in the last chunk is free. Nothing is allocated or woken.
	if last := q.rest.tail; last != nil && len(last.msgs) < cap(last.msgs) && len(last.tasks) == 0 && r == nil {
		last.msgs = append(last.msgs, msg) // a turn is due already
		c.waiting++
		checkState(c)
		c.mu.Unlock()
		return true
	}
	put(c, q, msg, r)
	c.unlockAndWake()
	return true
}

// tellChild takes the mutex of the child only: a bypass closes under that as well, so the message
// is either in the mailbox of the child before the bypass has closed, or comes to the actor. False
// means the latter, or a mailbox that is not plain.
func tellChild[M any](c *core, msg M, r *metadata.Request) bool {
	to := c.impl.(*cell).bypass.Load() // only a cell is bypassed
	if to == nil {
		return false
	}
	q, ok := to.core.queue.(*queue[M])
	return ok && tryPut(&to.core, q, msg, r, true)
}

// mu is held.
func put[M any](c *core, q *queue[M], msg M, r *metadata.Request) {
	c.waiting++
	if c.waiting > 1 {
		appendTo(&q.rest, msg, beside(r), &q.of.unused)
		return
	}
	q.first, c.alone = msg, messageAlone
	if r != nil {
		q.asked, c.alone = r, requestAlone
	}
}

// mu is held, and released.
func (c *core) unlockAndWake() {
	wake := !c.scheduled && !c.suspended
	if wake {
		c.scheduled = true
	}
	checkState(c)
	c.mu.Unlock()
	if wake {
		c.sys.scheduler.ready(c)
	}
}

// If the queue is full, over is the item that is dropped for it, or the item itself. mu is held.
func push[M any](c *core, q *queue[M], box Mailbox, msg M, t task) (over item, overflow bool) {
	switch {
	case box.capacity == 0:
	case t != nil && t.exempt():
		c.exempt++
	case int(c.waiting-c.exempt) < box.capacity:
	case box.overflow == dropOldest:
		over, overflow = takeOldest(&q.rest, &q.of.unused), true
		c.waiting--
	default:
		return itemOf(msg, t), true
	}
	c.waiting++
	appendTo(&q.rest, msg, t, &q.of.unused)
	return over, overflow
}

func takeAlone[M any](c *core, q *queue[M]) (msg M, r *metadata.Request) {
	var none M
	msg, q.first = q.first, none
	if c.alone == requestAlone {
		r, q.asked = q.asked, nil
	}
	c.alone = nothingAlone
	c.waiting--
	return msg, r
}

// refill takes one item of a bounded mailbox, whose bound counts them. The batch is empty, and
// nothing is alone. mu is held.
func refill[M any](c *core, q *queue[M], batch **chunk[M], box Mailbox) (items int32) {
	if box.capacity == 0 {
		items = c.waiting
		*batch, q.rest, c.waiting = q.rest.head, chain[M]{}, 0
		return items
	}
	if c.waiting == 0 {
		return 0
	}
	msg, t := takeFirst(&q.rest.head, &q.of.unused)
	if q.rest.head == nil {
		q.rest.tail = nil
	}
	c.waiting--
	if t != nil && t.exempt() {
		c.exempt--
	}
	var one chain[M]
	appendTo(&one, msg, t, &q.of.unused)
	*batch = one.head
	return 1
}

// mu is held.
func drainQueue[M any](c *core, q *queue[M], into []item) []item {
	if c.alone != nothingAlone {
		msg, r := takeAlone(c, q)
		into = append(into, item{msg: msg, request: r})
	}
	head := q.rest.head
	q.rest, c.waiting, c.exempt = chain[M]{}, 0, 0
	return drain(head, into, &q.of.unused)
}

// A chain is a queue of chunks, so that many messages are never copied. An empty chain has no
// chunk. What works on it are functions, since the compiler makes two of each method for each type.
type chain[M any] struct{ head, tail *chunk[M] }

// A chunk is a piece of a chain. Tasks are stored apart from messages, because most chunks have
// none: tasks is either empty or as long as msgs. A [request] there is beside its message.
type chunk[M any] struct {
	msgs  []M // those before next are gone
	tasks []task
	next  int
	after *chunk[M]
	class int // in chunkSizes
}

func appendTo[M any](c *chain[M], msg M, t task, unused *chunkPool) {
	last := c.tail
	if last == nil || len(last.msgs) == cap(last.msgs) {
		last = grow(c, unused)
	}
	last.msgs = append(last.msgs, msg)
	if t != nil || len(last.tasks) > 0 {
		last.tasks = appendTask(last.tasks, t, len(last.msgs), cap(last.msgs))
	}
}

func appendTask(tasks []task, t task, messages, most int) []task {
	if len(tasks) == 0 {
		tasks = slices.Grow(tasks, most)
	}
	tasks = tasks[:messages]
	tasks[messages-1] = t
	return tasks
}

// The new chunk is one size larger than the last.
func grow[M any](c *chain[M], unused *chunkPool) *chunk[M] {
	if c.tail == nil {
		c.head = newChunk[M](0, unused)
		c.tail = c.head
		return c.tail
	}
	fresh := newChunk[M](min(c.tail.class+1, len(chunkSizes)-1), unused)
	c.tail.after = fresh
	c.tail = fresh
	return fresh
}

// The chain is not empty, and retains nothing of the item.
func takeFirst[M any](head **chunk[M], unused *chunkPool) (msg M, t task) {
	k := *head
	var none M
	msg, k.msgs[k.next] = k.msgs[k.next], none
	if len(k.tasks) > 0 {
		t, k.tasks[k.next] = k.tasks[k.next], nil
	}
	advance(head, unused)
	return msg, t
}

// The bound of a mailbox does not count every item. There must be one that it counts.
func takeOldest[M any](c *chain[M], unused *chunkPool) (oldest item) {
	var before []item // which no bound counts
	for oldest = itemOf(takeFirst(&c.head, unused)); oldest.exempt(); oldest = itemOf(takeFirst(&c.head, unused)) {
		before = append(before, oldest)
	}
	if c.head == nil {
		c.tail = nil
	}
	prepend(c, before, unused)
	return oldest
}

func prepend[M any](c *chain[M], items []item, unused *chunkPool) {
	var first chain[M]
	for _, it := range items {
		appendItem(&first, it, unused)
	}
	if first.tail == nil {
		return
	}
	first.tail.after, c.head = c.head, first.head
	if c.tail == nil {
		c.tail = first.tail
	}
}

func advance[M any](head **chunk[M], unused *chunkPool) {
	k := *head
	k.next++
	if k.next < len(k.msgs) {
		return
	}
	*head = k.after
	k.msgs, k.tasks, k.next, k.after = k.msgs[:0], k.tasks[:0], 0, nil
	unused[k.class].Put(k)
}

func appendItem[M any](c *chain[M], it item, unused *chunkPool) {
	msg, _ := it.msg.(M) // it is nil of a task, and may be nil if M is an interface
	appendTo(c, msg, it.beside(), unused)
}

func drain[M any](head *chunk[M], into []item, unused *chunkPool) []item {
	for head != nil {
		into = append(into, itemOf(takeFirst(&head, unused)))
	}
	return into
}

func itemOf[M any](msg M, t task) item {
	switch t := t.(type) {
	case nil:
		return item{msg: msg}
	case *request:
		return item{msg: msg, request: (*metadata.Request)(t)}
	}
	return item{task: t}
}

// The first chunk of a chain is small, later ones are large.
var chunkSizes = [...]int{32, 256, 1024}

// A larger chunk has the smallest capacity.
const largeChunk = 64 << 10

// A chunkPool has the unused chunks for one type of messages, by class.
type chunkPool [len(chunkSizes)]sync.Pool

func newChunk[M any](class int, unused *chunkPool) *chunk[M] {
	if k, ok := unused[class].Get().(*chunk[M]); ok {
		return k
	}
	size := chunkSizes[class]
	if bytes := int(reflect.TypeFor[M]().Size()); bytes > 0 { //nolint:gosec // no type is that large
		size = max(chunkSizes[0], min(size, largeChunk/bytes))
	}
	return &chunk[M]{msgs: make([]M, 0, size), class: class}
}
