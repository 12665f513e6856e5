package plan

import (
	"container/heap"
	"time"
)

// deadlines are times at which something is due, at most one for each key. The zero value has none.
type deadlines[K comparable] struct {
	at    map[K]time.Time
	queue deadlineQueue[K] // also has entries that are no longer valid
}

type deadline[K comparable] struct {
	at  time.Time
	key K
	n   uint64 // orders equal times: the one set first comes first
}

// set makes key due at that time, replacing its earlier deadline.
func (d *deadlines[K]) set(key K, at time.Time) {
	if d.at == nil {
		d.at = map[K]time.Time{}
	}
	d.at[key] = at
	if len(d.queue.entries) > 2*len(d.at)+64 {
		d.sweep()
	}
	d.queue.n++
	heap.Push(&d.queue, deadline[K]{at: at, key: key, n: d.queue.n})
}

// clear removes the deadline of key.
func (d *deadlines[K]) clear(key K) { delete(d.at, key) }

// of returns when key is due.
func (d *deadlines[K]) of(key K) (at time.Time, ok bool) {
	at, ok = d.at[key]
	return at, ok
}

// first returns the earliest time at which a key is due.
func (d *deadlines[K]) first() (at time.Time, ok bool) {
	for len(d.queue.entries) > 0 {
		e := d.queue.entries[0]
		if d.holds(e) {
			return e.at, true
		}
		heap.Pop(&d.queue)
	}
	return time.Time{}, false
}

// pass removes and returns the keys that are due, in order.
func (d *deadlines[K]) pass(now time.Time) (due []K) {
	for {
		at, ok := d.first()
		if !ok || at.After(now) {
			return due
		}
		e := heap.Pop(&d.queue).(deadline[K])
		delete(d.at, e.key)
		due = append(due, e.key)
	}
}

func (d *deadlines[K]) holds(e deadline[K]) bool {
	at, ok := d.at[e.key]
	return ok && at.Equal(e.at)
}

// sweep removes invalid entries and duplicates.
func (d *deadlines[K]) sweep() {
	old := d.queue.entries
	d.queue.entries = nil
	seen := map[K]bool{}
	for _, e := range old {
		if d.holds(e) && !seen[e.key] {
			seen[e.key] = true
			d.queue.entries = append(d.queue.entries, e)
		}
	}
	heap.Init(&d.queue)
}

// A deadlineQueue is a heap.
type deadlineQueue[K comparable] struct {
	entries []deadline[K]
	n       uint64
}

func (q *deadlineQueue[K]) Len() int { return len(q.entries) }

func (q *deadlineQueue[K]) Less(i, j int) bool {
	a, b := q.entries[i], q.entries[j]
	return a.at.Before(b.at) || a.at.Equal(b.at) && a.n < b.n
}

func (q *deadlineQueue[K]) Swap(i, j int) { q.entries[i], q.entries[j] = q.entries[j], q.entries[i] }

func (q *deadlineQueue[K]) Push(e any) { q.entries = append(q.entries, e.(deadline[K])) }

func (q *deadlineQueue[K]) Pop() any {
	last := len(q.entries) - 1
	e := q.entries[last]
	q.entries = q.entries[:last]
	return e
}

// earliest is the earliest of the times that were added.
type earliest struct {
	at time.Time
	ok bool
}

func (e *earliest) add(at time.Time, ok bool) {
	if ok && (!e.ok || at.Before(e.at)) {
		e.at, e.ok = at, true
	}
}
