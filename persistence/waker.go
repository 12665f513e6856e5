package persistence

import "sync"

// A Waker is an [EventReader] that tells when to look again. It knows of what its own
// process appends and of nothing else, so readers ask in vain now and then all the same.
type Waker interface {
	// Appended returns a channel that is closed once something has been appended after the
	// call, or the journal is closed; nil when it will not tell, as that which a journal is
	// wrapped around does not. It may be called from any goroutine.
	Appended() <-chan struct{}
}

// A Bell is how a journal becomes a [Waker]: it embeds one, and rings it after each
// append and when it is closed. The zero Bell is ready. It starts nothing, and without
// listeners it costs a lock.
type Bell struct {
	mu   sync.Mutex // guards next
	next chan struct{}
}

// Appended implements [Waker].
func (b *Bell) Appended() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next == nil {
		b.next = make(chan struct{})
	}
	return b.next
}

// Ring wakes all who have asked so far.
func (b *Bell) Ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next != nil {
		close(b.next)
		b.next = nil
	}
}
