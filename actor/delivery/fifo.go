package delivery

// A fifo is a queue that keeps nothing of what has left it.
type fifo[T any] struct {
	items []T
	next  int // those before are gone
}

func (f *fifo[T]) size() int { return len(f.items) - f.next }

func (f *fifo[T]) push(item T) {
	if f.next > f.size() {
		n := copy(f.items, f.items[f.next:])
		clear(f.items[n:])
		f.items, f.next = f.items[:n], 0
	}
	f.items = append(f.items, item)
}

// pop takes out the oldest item, of which there must be one.
func (f *fifo[T]) pop() T {
	item := f.items[f.next]
	clear(f.items[f.next : f.next+1])
	f.next++
	return item
}

// at returns the item that n others are before; there must be one.
func (f *fifo[T]) at(n int) T { return f.items[f.next+n] }

// all returns the items, in order.
func (f *fifo[T]) all() []T { return f.items[f.next:] }
