// Package turns is a queue in memory that serves its owners in turn, so that one with many items
// does not hold up another with few.
package turns

import "github.com/understudy-go/understudy/internal/fifo"

// A Queue keeps the items of each owner in order. The zero Queue is empty. It is not safe for
// concurrent use.
type Queue[K comparable, T any] struct {
	items map[K]*fifo.Queue[T]
	order fifo.Queue[K] // the owners of items; the first is next
}

// Len returns the number of items of an owner.
func (q *Queue[K, T]) Len(owner K) int {
	if of := q.items[owner]; of != nil {
		return of.Len()
	}
	return 0
}

// Empty reports whether there are no items.
func (q *Queue[K, T]) Empty() bool { return q.order.Len() == 0 }

// Push adds an item after the others of its owner.
func (q *Queue[K, T]) Push(owner K, item T) {
	of := q.items[owner]
	if of == nil {
		if q.items == nil {
			q.items = map[K]*fifo.Queue[T]{}
		}
		of = &fifo.Queue[T]{}
		q.items[owner] = of
		q.order.Push(owner)
	}
	of.Push(item)
}

// Pop removes and returns the oldest item of the owner whose turn it is. Owners for which skip
// returns true lose their turn. It returns false if no others have items.
func (q *Queue[K, T]) Pop(skip func(owner K) bool) (owner K, item T, ok bool) {
	for range q.order.Len() {
		owner = q.order.Pop()
		if skip(owner) {
			q.order.Push(owner)
			continue
		}
		of := q.items[owner]
		if item = of.Pop(); of.Len() > 0 {
			q.order.Push(owner)
		} else {
			delete(q.items, owner)
		}
		return owner, item, true
	}
	var none K
	return none, item, false
}
