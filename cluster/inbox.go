package cluster

import (
	"sync"

	"github.com/understudy-go/understudy/cluster/membership"
)

// An inbox brings events to the goroutine that owns the machine. What other nodes say is
// bounded, by offer; the rest by the rhythm of the protocol.
type inbox struct {
	mu     sync.Mutex // guards events
	events []envelope
	full   chan struct{} // has an element when there are events
}

// A envelope is an event for one incarnation, or for whichever there is.
type envelope struct {
	to uint64 // 0 is any
	ev membership.Input
}

func newInbox() *inbox { return &inbox{full: make(chan struct{}, 1)} }

func (b *inbox) post(to uint64, ev membership.Input) {
	b.mu.Lock()
	b.events = append(b.events, envelope{to, ev})
	b.mu.Unlock()
	b.signal()
}

// maxUnread bounds what of other nodes waits: they repeat what counts.
const maxUnread = 10_000

// offer posts an event, unless too many wait, and reports whether it has.
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

// putBack returns events that were taken and not handled, in front of all others.
func (b *inbox) putBack(events []envelope) {
	if len(events) == 0 {
		return
	}
	b.mu.Lock()
	b.events = append(events, b.events...)
	b.mu.Unlock()
	b.signal()
}

// take returns what has come, in order.
func (b *inbox) take() []envelope {
	b.mu.Lock()
	defer b.mu.Unlock()
	events := b.events
	b.events = nil
	return events
}
