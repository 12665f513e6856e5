package jetstream

import (
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/understudy-go/understudy/persistence"
)

var _ persistence.Waker = (*Journal)(nil)

// wakePause is how long a journal waits between two hints: one that appends all the time
// makes the readers of others look ten times in a second.
const wakePause = 100 * time.Millisecond

// Appended implements [persistence.Waker]. It tells at once of what j has appended, and soon
// of what other journals of the stream have, in whatever process, if their hint arrives.
func (j *Journal) Appended() <-chan struct{} {
	j.listener.listen(j)
	return j.Bell.Appended()
}

// appended wakes those who read here, and hints to other journals that they should look.
func (j *Journal) appended() {
	j.Ring()
	if j.hints.due(j.hint) {
		j.hint()
	}
}

// hint is a message that nobody stores. Who misses it looks again all the same.
func (j *Journal) hint() { _ = j.nc.Publish(j.subjects.wake(), []byte(j.inbox.prefix)) }

// hints are few: one at once, and one after the pause if more were due meanwhile.
type hints struct {
	mu      sync.Mutex // guards pausing and again
	pausing bool
	again   bool
}

// due reports whether to hint now. If not, later is called when the pause is over.
func (h *hints) due(later func()) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.pausing {
		h.again = true
		return false
	}
	h.pausing = true
	time.AfterFunc(wakePause, func() {
		if h.pauseOver() && h.due(later) {
			later()
		}
	})
	return true
}

func (h *hints) pauseOver() (again bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	again, h.pausing, h.again = h.again, false, false
	return again
}

// listener hears the hints of other journals, once somebody reads here who waits.
type listener struct {
	mu     sync.Mutex // guards the rest
	sub    *nats.Subscription
	closed bool
}

func (l *listener) listen(j *Journal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.sub != nil {
		return
	}
	l.sub, _ = j.nc.Subscribe(j.subjects.wake(), func(m *nats.Msg) { // if it fails, the next call tries again
		if string(m.Data) != j.inbox.prefix {
			j.Ring()
		}
	})
}

func (l *listener) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.sub != nil {
		_ = l.sub.Unsubscribe()
	}
}
