package actor

import (
	"reflect"
	"slices"
	"sync"

	"github.com/understudy-go/understudy/internal/metadata"
)

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
