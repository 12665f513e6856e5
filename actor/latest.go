package actor

import "sync/atomic"

// TellLatest implements extension.TellLatest.
func (r refInternals[M]) TellLatest(read func() (M, bool)) (notify func()) {
	return r.c.impl.(latestTeller[M]).tellLatest(read) // actors and adapters of this system
}

// A latestTeller can be sent the newest of some values.
type latestTeller[M any] interface {
	tellLatest(read func() (M, bool)) (notify func())
}

func (c *cell[M]) tellLatest(read func() (M, bool)) (notify func()) {
	return follow(c, read, (*cell[M]).handleTaskMessage)
}

func (a *adapter[T]) tellLatest(read func() (T, bool)) (notify func()) { return a.follow(read) }

// follow returns a function that posts a task to c, unless one waits there; the task gives what read
// returns then to handle.
func follow[T, M any](c *cell[M], read func() (T, bool), handle func(*cell[M], T)) (notify func()) {
	l := &latest[T, M]{read: read, handle: handle}
	return func() {
		if l.waits.CompareAndSwap(false, true) {
			c.post(item[M]{task: l}, entrance{})
		}
	}
}

type latest[T, M any] struct {
	read   func() (T, bool)
	handle func(*cell[M], T)
	waits  atomic.Bool
}

func (l *latest[T, M]) run(c *cell[M]) {
	l.waits.Store(false)
	if msg, fresh := l.read(); fresh {
		l.handle(c, msg)
	}
}

func (l *latest[T, M]) exempt() bool { return true }

func (l *latest[T, M]) undelivered() (any, bool) { return nil, false }
