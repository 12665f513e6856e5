package cluster

import (
	"sync"

	"github.com/understudy-go/understudy/cluster/internal/membership"
)

// An inbox passes events to the goroutine that owns the machine. It limits the events of other
// nodes, which use offer; the pace of the protocol limits the others.
type inbox struct {
	mu     sync.Mutex // guards events
	events []envelope
	full   chan struct{} // has an element when there are events
}

// An envelope is an event for one incarnation, or for any.
type envelope struct {
	to uint64 // the incarnation; 0 is any
	ev membership.Input
}

func newInbox() *inbox { return &inbox{full: make(chan struct{}, 1)} }

func (b *inbox) post(to uint64, ev membership.Input) {
	b.mu.Lock()
	b.events = append(b.events, envelope{to, ev})
	b.mu.Unlock()
	b.signal()
}

// maxUnread is how many events may wait when another node's event is accepted. Dropped ones are
// repeated if they matter.
const maxUnread = 10_000

func (b *inbox) offer(to uint64, ev membership.Input) bool {
	b.mu.Lock()
	room := len(b.events) < maxUnread
	if room {
		b.events = append(b.events, envelope{to, ev})
	}
	b.mu.Unlock()
	if room {
		b.signal()
	}
	return room
}

func (b *inbox) signal() {
	select {
	case b.full <- struct{}{}:
	default:
	}
}

func (b *inbox) putBack(events []envelope) {
	if len(events) == 0 {
		return
	}
	b.mu.Lock()
	b.events = append(events, b.events...)
	b.mu.Unlock()
	b.signal()
}

func (b *inbox) take() []envelope {
	b.mu.Lock()
	defer b.mu.Unlock()
	events := b.events
	b.events = nil
	return events
}
