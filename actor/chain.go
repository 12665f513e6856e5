package actor

import (
	"reflect"
	"slices"
	"sync"
)

// A chain is a queue of chunks, so that many messages are never copied. An empty chain has no
// chunk.
type chain[M any] struct {
	head, tail *chunk[M]
	size       int
}

// A chunk is a piece of a chain. Tasks are stored apart from messages, because most chunks have
// none: tasks is either empty or as long as msgs.
type chunk[M any] struct {
	msgs  []M // those before next are gone
	tasks []task[M]
	next  int
	after *chunk[M]
	class int // in chunkSizes
}

// put adds a message.
func (c *chain[M]) put(msg M, chunks *chunks[M]) {
	last := c.tail
	if last == nil || len(last.msgs) == cap(last.msgs) {
		last = c.grow(chunks)
	}
	last.msgs = append(last.msgs, msg)
	if len(last.tasks) > 0 {
		last.tasks = append(last.tasks, nil)
	}
	c.size++
}

// hasPlace reports whether a message can be appended and the chunk has no tasks.
func (k *chunk[M]) hasPlace() bool { return len(k.msgs) < cap(k.msgs) && len(k.tasks) == 0 }

func (c *chain[M]) push(it item[M], chunks *chunks[M]) {
	c.put(it.msg, chunks)
	if it.task == nil {
		return
	}
	last := c.tail
	if len(last.tasks) == 0 {
		last.tasks = slices.Grow(last.tasks, cap(last.msgs))[:len(last.msgs)]
	}
	last.tasks[len(last.tasks)-1] = it.task
}

// grow adds an empty chunk, one size larger than the last.
func (c *chain[M]) grow(chunks *chunks[M]) *chunk[M] {
	if c.tail == nil {
		c.head = chunks.get(0)
		c.tail = c.head
		return c.tail
	}
	fresh := chunks.get(min(c.tail.class+1, len(chunkSizes)-1))
	c.tail.after = fresh
	c.tail = fresh
	return fresh
}

func (c *chain[M]) pop(chunks *chunks[M]) (it item[M], ok bool) {
	if c.size == 0 {
		return it, false
	}
	it = c.head.take(c.head.next)
	c.advance(chunks)
	return it, true
}

// take removes and returns the item at a place, and retains nothing.
func (k *chunk[M]) take(i int) (it item[M]) {
	var none M
	it.msg, k.msgs[i] = k.msgs[i], none
	if len(k.tasks) > 0 {
		it.task, k.tasks[i] = k.tasks[i], nil
	}
	return it
}

// removeLast removes the last message. The chunk has no tasks.
func (k *chunk[M]) removeLast() M {
	last := len(k.msgs) - 1
	var none, msg M
	msg, k.msgs[last] = k.msgs[last], none
	k.msgs = k.msgs[:last]
	return msg
}

// first removes the first message. It is not the last one, and the chunk has no tasks.
func (k *chunk[M]) first() (msg M) {
	var none M
	msg, k.msgs[k.next] = k.msgs[k.next], none
	k.next++
	return msg
}

// swap puts an item into a place and returns the previous one.
func (k *chunk[M]) swap(i int, it item[M]) (was item[M]) {
	was = k.take(i)
	k.msgs[i] = it.msg
	if it.task != nil && len(k.tasks) == 0 {
		k.tasks = slices.Grow(k.tasks, cap(k.msgs))[:len(k.msgs)]
	}
	if len(k.tasks) > 0 {
		k.tasks[i] = it.task
	}
	return was
}

// takeBounded removes the first item that the bound counts; there must be one. Those before it move
// up by one place.
func (c *chain[M]) takeBounded(chunks *chunks[M]) item[M] {
	var carry item[M]
	for piece := c.head; ; piece = piece.after {
		for i := piece.next; i < len(piece.msgs); i++ {
			carry = piece.swap(i, carry)
			if !carry.exempt() {
				c.advance(chunks)
				return carry
			}
		}
	}
}

// advance removes the first place, which is empty.
func (c *chain[M]) advance(chunks *chunks[M]) {
	c.size--
	first := c.head
	first.next++
	if first.next == len(first.msgs) && (first.after != nil || c.size == 0) {
		c.head = first.after
		if c.head == nil {
			c.tail = nil
		}
		chunks.put(first)
	}
}

// putBack puts items before all others; no bound counts them.
func (c *chain[M]) putBack(items []item[M], chunks *chunks[M]) {
	var back chain[M]
	for _, it := range items {
		back.push(it, chunks)
	}
	back.join(*c)
	*c = back
}

// join appends all items of other, which must not be used afterwards.
func (c *chain[M]) join(other chain[M]) {
	switch {
	case other.head == nil:
		return
	case c.tail == nil:
		c.head = other.head
	default:
		c.tail.after = other.head
	}
	c.tail = other.tail
	c.size += other.size
}

// drain empties the chain and appends its items in order.
func (c *chain[M]) drain(into []item[M], chunks *chunks[M]) []item[M] {
	into = slices.Grow(into, c.size)
	for it, ok := c.pop(chunks); ok; it, ok = c.pop(chunks) {
		into = append(into, it)
	}
	return into
}

// chunkSizes are the capacities of chunks. The first chunk of a chain is small, later ones are
// large.
var chunkSizes = [...]int{32, 256, 1024}

// largeChunk is the largest size of a chunk in bytes, unless it has the smallest capacity.
const largeChunk = 64 << 10

// chunks is the pool of unused chunks for one message type.
type chunks[M any] struct {
	pools [len(chunkSizes)]sync.Pool
}

func (p *chunks[M]) get(class int) *chunk[M] {
	if k, ok := p.pools[class].Get().(*chunk[M]); ok {
		return k
	}
	size := chunkSizes[class]
	if bytes := int(reflect.TypeFor[M]().Size()); bytes > 0 { //nolint:gosec // no type is that large
		size = max(chunkSizes[0], min(size, largeChunk/bytes))
	}
	return &chunk[M]{msgs: make([]M, 0, size), class: class}
}

// put takes back a chunk whose places are all empty.
func (p *chunks[M]) put(k *chunk[M]) {
	k.msgs, k.tasks, k.next, k.after = k.msgs[:0], k.tasks[:0], 0, nil
	p.pools[k.class].Put(k)
}
