package remote

import "context"

// Flush waits until peers have acknowledged what was told to actors there before, or it
// has become dead letters. It returns the cause of ctx when that ends first.
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

// flushed returns a channel that is closed when nothing is left in the link.
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

// noteEmpty tells those who wait for it that the link is empty, if it is. The caller
// holds mu.
func (l *link) noteEmpty() {
	if l.empty != nil && l.out.Len() == 0 {
		close(l.empty)
		l.empty = nil
	}
}
