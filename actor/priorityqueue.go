package actor

import "errors"

// priorities is a binary heap, which the turn owns.
type priorities struct {
	priority func(msg any) int
	entries  []prioritized
	fresh    []item
	came     uint64 // how many items have come so far
	last     bool   // the actor ends when those that have come have been handled
}

type prioritized struct {
	item     item
	class    int8 // see add
	priority int
	number   uint64
}

func (p *prioritized) before(q *prioritized) bool {
	switch {
	case p.class != q.class:
		return p.class < q.class
	case p.priority != q.priority:
		return p.priority < q.priority
	}
	return p.number < q.number
}

// Tasks come before messages, and messages before the end by [Context.Drain], which later messages
// do not delay. It calls the user's function.
func (r *priorities) add(it item) {
	e := prioritized{item: it, number: r.came}
	r.came++
	plain := it.plain()
	switch task := plain.task.(type) {
	case nil:
		e.class, e.priority = r.ofMessages(), r.priority(plain.msg)
	case *delivered:
		e.class, e.priority = r.ofMessages(), r.ofDelivered(task)
	case lastTask:
		e.class, r.last = 2, true
	}
	r.entries = append(r.entries, e)
	for at := len(r.entries) - 1; at > 0; {
		parent := (at - 1) / 2
		if !r.entries[at].before(&r.entries[parent]) {
			break
		}
		r.entries[at], r.entries[parent] = r.entries[parent], r.entries[at]
		at = parent
	}
}

func (r *priorities) ofMessages() int8 {
	if r.last {
		return 3
	}
	return 1
}

// If the user's function panics, it reports the outcome of d.
func (r *priorities) ofDelivered(d *delivered) int {
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

func (r *priorities) take() (it item, ok bool) {
	end := len(r.entries) - 1
	if end < 0 {
		return it, false
	}
	it = r.entries[0].item
	r.entries[0], r.entries[end] = r.entries[end], prioritized{} // retain nothing
	if r.entries = r.entries[:end]; end == 0 {
		r.entries = nil
	}
	r.sink()
	return it, true
}

func (r *priorities) sink() {
	for at := 0; ; {
		first := at
		for child := 2*at + 1; child <= 2*at+2 && child < len(r.entries); child++ {
			if r.entries[child].before(&r.entries[first]) {
				first = child
			}
		}
		if first == at {
			return
		}
		r.entries[at], r.entries[first] = r.entries[first], r.entries[at]
		at = first
	}
}

func (r *priorities) size() int {
	if r == nil {
		return 0
	}
	return len(r.entries)
}
