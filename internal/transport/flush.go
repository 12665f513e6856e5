package transport

import "context"

// Flush waits until all earlier messages to actors on other nodes are acknowledged or have become
// dead letters. If ctx ends first, it returns the cause of ctx.
func (e *Endpoint) Flush(ctx context.Context) error {
	for _, l := range e.links.to("") {
		if l.key.channel == channelControl {
			continue // it is never quiet
		}
		select {
		case <-l.flushed():
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func (l *link) flushed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.empty == nil {
		l.empty = make(chan struct{})
	}
	empty := l.empty
	l.noteEmpty()
	return empty
}

// noteEmpty wakes the callers of Flush if the link is empty, and senders if it has room. mu is
// held.
func (l *link) noteEmpty() {
	l.noteRoom()
	if l.empty != nil && l.out.Len() == 0 {
		close(l.empty)
		l.empty = nil
	}
}
