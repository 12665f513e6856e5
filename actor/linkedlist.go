package actor

// The values of a linkedList carry their place in it, as a [linked]: to add and to remove one
// allocates nothing, and takes the same time however many there are. The zero value is empty.
type linkedList[T any] struct {
	first, last *linked[T]
	size        int
}

type linked[T any] struct {
	value         *T
	in            *linkedList[T] // nil: it is in no list
	before, after *linked[T]
}

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

// The list must not change meanwhile.
func (l *linkedList[T]) all(yield func(*T) bool) {
	for e := l.first; e != nil && yield(e.value); e = e.after {
	}
}
