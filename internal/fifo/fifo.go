// Package fifo has a queue in memory.
package fifo

// A Queue keeps nothing of what has left it. The zero Queue is empty. It is not safe for
// use by several goroutines at once.
type Queue[T any] struct {
	items []T
	next  int // those before are gone
}

// Of returns a queue of items, which it takes over.
func Of[T any](items []T) Queue[T] { return Queue[T]{items: items} }

// Len is how many items there are.
func (q *Queue[T]) Len() int { return len(q.items) - q.next }

// Push adds an item at the end.
func (q *Queue[T]) Push(item T) {
	if q.next > q.Len() {
		n := copy(q.items, q.items[q.next:])
		clear(q.items[n:])
		q.items, q.next = q.items[:n], 0
	}
	q.items = append(q.items, item)
}

// Pop takes out the oldest item, of which there must be one.
func (q *Queue[T]) Pop() T {
	item := q.items[q.next]
	clear(q.items[q.next : q.next+1])
	q.next++
	return item
}

// Remove takes out the items that gone says, wherever they are, and returns them.
func (q *Queue[T]) Remove(gone func(T) bool) (removed []T) {
	kept := q.items[q.next:q.next]
	for _, item := range q.All() {
		if gone(item) {
			removed = append(removed, item)
		} else {
			kept = append(kept, item)
		}
	}
	clear(q.items[q.next+len(kept):])
	q.items = q.items[:q.next+len(kept)]
	return removed
}

// Drain takes out all items, in order.
func (q *Queue[T]) Drain() []T {
	rest := q.items[q.next:]
	*q = Queue[T]{}
	return rest
}

// At returns the item that n others are before; there must be one.
func (q *Queue[T]) At(n int) T { return q.items[q.next+n] }

// All returns the items, in order. They are the queue's own.
func (q *Queue[T]) All() []T { return q.items[q.next:] }
