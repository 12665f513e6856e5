package actor

import (
	"fmt"
	"sync/atomic"

	"github.com/understudy-go/understudy/internal/payload"
)

// TellLatest implements extension.TellLatest.
func (r refInternals[M]) TellLatest(read func() (M, bool)) (notify func()) {
	if r.c == nil || r.c.isRemote() {
		panic(fmt.Sprintf("actor: %q is no actor of this process and cannot follow what changes here; subscribe it on its own node", r.Path()))
	}
	to := r.c.impl.(latestTeller) // actors of this process and their other refs
	return to.tellLatest(func() (any, bool) { return read() })
}

// A latestTeller can be sent the newest of some values.
type latestTeller interface {
	tellLatest(read func() (any, bool)) (notify func())
}

func (c *cell[M]) tellLatest(read func() (any, bool)) (notify func()) {
	return follow(c, read, func(msg any) {
		if m, ok := payload.As[M](msg); ok { // the ref is of M
			c.handleTaskMessage(m)
		}
	})
}

func (a *adapter[T]) tellLatest(read func() (any, bool)) (notify func()) { return a.follow(read) }

func (h *handler[M]) tellLatest(read func() (any, bool)) (notify func()) {
	return follow(h.to, read, func(msg any) { (&handled[M]{msg, h}).run(h.to) })
}

// follow returns a function that posts a task to c, unless one waits there; the task gives handle
// what read returns then.
func follow[M any](c *cell[M], read func() (any, bool), handle func(msg any)) (notify func()) {
	l := &latest[M]{read: read, handle: handle}
	return func() {
		if l.waits.CompareAndSwap(false, true) {
			c.post(item[M]{task: l}, entrance{})
		}
	}
}

type latest[M any] struct {
	read   func() (any, bool)
	handle func(msg any)
	waits  atomic.Bool
}

func (l *latest[M]) run(*cell[M]) {
	l.waits.Store(false)
	if msg, fresh := l.read(); fresh {
		l.handle(msg)
	}
}

func (l *latest[M]) exempt() bool { return true }

func (l *latest[M]) undelivered() (any, bool) { return nil, false }
