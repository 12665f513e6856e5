package actor

import (
	"container/heap"
	"errors"
	"fmt"
)

// priorities holds the waiting items of a prioritized mailbox. The turn owns it.
type priorities[M any] struct {
	priority func(msg M) int
	entries  priorityHeap[M]
	came     uint64 // how many items have come so far
	last     bool   // the actor ends when those that have come have been handled
}

type prioritizedItem[M any] struct {
	item     item[M]
	class    int8 // see add
	priority int
	number   uint64
}

// newPriorityQueue returns nil for a mailbox without priorities.
func newPriorityQueue[M any](box Mailbox, path func() string) *priorities[M] {
	if box.priority == nil {
		return nil
	}
	priority, ok := box.priority.(func(M) int)
	if !ok {
		var want func(M) int
		panic(fmt.Sprintf("actor: the mailbox of %s has a priority of type %T; it needs one of type %T", path(), box.priority, want))
	}
	return &priorities[M]{priority: priority}
}

// add inserts an item: tasks come before messages, and messages before the end by [Context.Drain],
// which later messages do not delay. It calls the user's function.
func (r *priorities[M]) add(it item[M]) {
	e := prioritizedItem[M]{item: it, number: r.came}
	r.came++
	plain := it.plain()
	switch task := plain.task.(type) {
	case nil:
		e.class, e.priority = r.ofMessages(), r.priority(plain.msg)
	case *delivered[M]:
		e.class, e.priority = r.ofMessages(), r.ofDelivered(task)
	case *lastTask[M]:
		e.class, r.last = 2, true
	}
	heap.Push(&r.entries, e)
}

// ofMessages returns the class of messages that arrive now.
func (r *priorities[M]) ofMessages() int8 {
	if r.last {
		return 3
	}
	return 1
}

// ofDelivered reports the outcome of d if the user's function panics.
func (r *priorities[M]) ofDelivered(d *delivered[M]) int {
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

func (r *priorities[M]) take() (it item[M], ok bool) {
	if len(r.entries) == 0 {
		return it, false
	}
	return heap.Pop(&r.entries).(prioritizedItem[M]).item, true // nothing else is pushed
}

func (r *priorities[M]) size() int {
	if r == nil {
		return 0
	}
	return len(r.entries)
}

// priorityHeap is the heap behind priorities.
type priorityHeap[M any] []prioritizedItem[M]

func (r priorityHeap[M]) Len() int      { return len(r) }
func (r priorityHeap[M]) Swap(i, j int) { r[i], r[j] = r[j], r[i] }
func (r priorityHeap[M]) Less(i, j int) bool {
	a, b := &r[i], &r[j]
	switch {
	case a.class != b.class:
		return a.class < b.class
	case a.priority != b.priority:
		return a.priority < b.priority
	}
	return a.number < b.number
}

func (r *priorityHeap[M]) Push(e any) { *r = append(*r, e.(prioritizedItem[M])) } // only add pushes

func (r *priorityHeap[M]) Pop() any {
	end := len(*r) - 1
	last := (*r)[end]
	(*r)[end] = prioritizedItem[M]{} // retain nothing
	if *r = (*r)[:end]; end == 0 {
		*r = nil
	}
	return last
}
