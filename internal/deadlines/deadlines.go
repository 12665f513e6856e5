// Package deadlines keeps the times at which something is due, for state machines that are told the
// time.
package deadlines

import (
	"container/heap"
	"time"
)

// A Map has at most one deadline for each key. The zero value has none.
type Map[K comparable] struct {
	at    map[K]time.Time
	queue queue[K] // also has entries that are no longer valid
}

type deadline[K comparable] struct {
	at  time.Time
	key K
	n   uint64 // orders equal times: the one set first comes first
}

// Set makes key due at that time, replacing its earlier deadline.
func (d *Map[K]) Set(key K, at time.Time) {
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

// Clear removes the deadline of key.
func (d *Map[K]) Clear(key K) { delete(d.at, key) }

// Of returns when key is due.
func (d *Map[K]) Of(key K) (at time.Time, ok bool) {
	at, ok = d.at[key]
	return at, ok
}

// First returns the earliest time at which a key is due.
func (d *Map[K]) First() (at time.Time, ok bool) {
	for len(d.queue.entries) > 0 {
		e := d.queue.entries[0]
		if d.holds(e) {
			return e.at, true
		}
		heap.Pop(&d.queue)
	}
	return time.Time{}, false
}

// Pass removes and returns the keys that are due, in order.
func (d *Map[K]) Pass(now time.Time) (due []K) {
	for {
		at, ok := d.First()
		if !ok || at.After(now) {
			return due
		}
		e := heap.Pop(&d.queue).(deadline[K])
		delete(d.at, e.key)
		due = append(due, e.key)
	}
}

func (d *Map[K]) holds(e deadline[K]) bool {
	at, ok := d.at[e.key]
	return ok && at.Equal(e.at)
}

func (d *Map[K]) sweep() {
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

type queue[K comparable] struct {
	entries []deadline[K]
	n       uint64
}

func (q *queue[K]) Len() int { return len(q.entries) }

func (q *queue[K]) Less(i, j int) bool {
	a, b := q.entries[i], q.entries[j]
	return a.at.Before(b.at) || a.at.Equal(b.at) && a.n < b.n
}

func (q *queue[K]) Swap(i, j int) { q.entries[i], q.entries[j] = q.entries[j], q.entries[i] }

func (q *queue[K]) Push(e any) { q.entries = append(q.entries, e.(deadline[K])) }

func (q *queue[K]) Pop() any {
	last := len(q.entries) - 1
	e := q.entries[last]
	q.entries = q.entries[:last]
	return e
}

// An Earliest is the earliest of the times that were added.
type Earliest struct {
	At time.Time
	OK bool // a time was added
}

// Add adds a time, if ok.
func (e *Earliest) Add(at time.Time, ok bool) {
	if ok && (!e.OK || at.Before(e.At)) {
		e.At, e.OK = at, true
	}
}
