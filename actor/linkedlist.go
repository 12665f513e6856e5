package actor

// A linkedList holds values that carry their place in it, as a [linked]: to add and to remove one
// allocates nothing, and takes the same time however many there are. The zero value is empty.
type linkedList[T any] struct {
	first, last *linked[T]
	size        int
}

// A linked is the place of a value in a linkedList. The zero value is in none.
type linked[T any] struct {
	value         *T
	in            *linkedList[T] // nil: it is in no list
	before, after *linked[T]
}

// add appends the value whose place is e. It is in no list.
func (l *linkedList[T]) add(e *linked[T], value *T) {
	*e = linked[T]{value: value, in: l, before: l.last}
	if l.last == nil {
		l.first = e
	} else {
		l.last.after = e
	}
	l.last = e
	l.size++
}

// remove takes the value out of its list, if it is in one.
func (e *linked[T]) remove() {
	l := e.in
	if l == nil {
		return
	}
	if e.before == nil {
		l.first = e.after
	} else {
		e.before.after = e.after
	}
	if e.after == nil {
		l.last = e.before
	} else {
		e.after.before = e.before
	}
	l.size--
	*e = linked[T]{}
}

// all yields the values in order. The list must not change meanwhile.
func (l *linkedList[T]) all(yield func(*T) bool) {
	for e := l.first; e != nil && yield(e.value); e = e.after {
	}
}
