package jetstream

import (
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// wakePause is the pause between two hints: a journal that appends all the time makes readers of
// other journals read ten times per second.
const wakePause = 100 * time.Millisecond

// Appended implements [journal.EventReader]. It reports appends of j at once, and appends of other
// journals of the stream, in any process, when their hint arrives.
func (j *Journal) Appended() <-chan struct{} {
	_ = j.listener.listen(j.nc, j.subjects.wake(), func(m *nats.Msg) { // the next call tries again
		if string(m.Data) != j.inbox.prefix {
			j.Notify()
		}
	})
	return j.Notifier.Appended()
}

func (j *Journal) appended() {
	j.Notify()
	if j.hints.due(j.hint) {
		j.hint()
	}
}

// hint publishes a message that no stream keeps. A journal that misses it polls anyway.
func (j *Journal) hint() { _ = j.nc.Publish(j.subjects.wake(), []byte(j.inbox.prefix)) }

// hints bounds the rate of hints: one at once, and one after the pause if more were due meanwhile.
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

type listener struct {
	mu     sync.Mutex // guards the rest
	subs   map[string]*nats.Subscription
	closed bool
}

func (l *listener) listen(nc *nats.Conn, subject string, hear nats.MsgHandler) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.subs[subject] != nil {
		return nil
	}
	sub, err := nc.Subscribe(subject, hear)
	if err == nil {
		l.subs[subject] = sub
	}
	return err
}

func (l *listener) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	for _, sub := range l.subs {
		_ = sub.Unsubscribe()
	}
}
