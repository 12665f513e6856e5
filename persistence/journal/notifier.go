package journal

import (
	"sync"
)

// A Notifier implements [EventReader.Appended]: a journal embeds one, and calls Notify after
// each append and when it is closed. The zero Notifier is ready. It starts no goroutine, and
// without listeners it costs a lock. Its methods may be called from any goroutine.
type Notifier struct {
	mu   sync.Mutex // guards next
	next chan struct{}
}

// Appended returns a channel that the next call of Notify closes.
func (n *Notifier) Appended() <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.next == nil {
		n.next = make(chan struct{})
	}
	return n.next
}

// Notify closes the channels that Appended has returned so far.
func (n *Notifier) Notify() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.next != nil {
		close(n.next)
		n.next = nil
	}
}
