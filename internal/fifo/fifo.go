// Package fifo is a queue in memory.
package fifo

// A Queue retains no items that have left it. The zero Queue is empty. It is not safe for
// concurrent use.
type Queue[T any] struct {
	items []T
	next  int // those before are gone
}

// Of returns a queue of items, which it takes over.
func Of[T any](items []T) Queue[T] { return Queue[T]{items: items} }

// Len returns the number of items.
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

// Pop removes and returns the oldest item; there must be one.
func (q *Queue[T]) Pop() T {
	item := q.items[q.next]
	clear(q.items[q.next : q.next+1])
	q.next++
	return item
}

// Remove removes and returns the items for which gone returns true.
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

// Drain removes and returns all items, in order.
func (q *Queue[T]) Drain() []T {
	rest := q.items[q.next:]
	*q = Queue[T]{}
	return rest
}

// At returns the item at index n, counted from the oldest; there must be one.
func (q *Queue[T]) At(n int) T { return q.items[q.next+n] }

// All returns the items in order. The slice belongs to the queue.
func (q *Queue[T]) All() []T { return q.items[q.next:] }
