package cluster

import (
	"context"
	"iter"
	"slices"
	"sync"
)

// A viewPublisher passes the newest view to any number of readers. A slow reader skips views.
type viewPublisher struct {
	mu      sync.Mutex // guards the fields below
	view    View
	changed chan struct{} // closed when there is a newer view, or when this one is the last
	ended   bool          // this view is the last

	listeners []*listener // copied on each change
}

type listener struct{ call func() }

func newViewPublisher(v View) *viewPublisher {
	return &viewPublisher{view: v, changed: make(chan struct{})}
}

func (b *viewPublisher) publish(v View) {
	b.mu.Lock()
	b.view = v
	close(b.changed)
	b.changed = make(chan struct{})
	listeners := b.listeners
	b.mu.Unlock()
	for _, l := range listeners {
		l.call()
	}
}

// listen calls f, which must not block, after each new view until cancel is called. f may still be
// running when cancel returns.
func (b *viewPublisher) listen(f func()) (cancel func()) {
	l := &listener{f}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.listeners = append(slices.Clip(b.listeners), l)
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.listeners = slices.DeleteFunc(slices.Clone(b.listeners), func(o *listener) bool { return o == l })
	}
}

// end marks the current view as the last one.
func (b *viewPublisher) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	close(b.changed)
}

func (b *viewPublisher) read() (v View, changed <-chan struct{}, ended bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.view, b.changed, b.ended
}

// next waits for a view that is newer than a version, and reports whether there is one.
func (b *viewPublisher) next(ctx context.Context, than uint64) bool {
	for {
		v, changed, ended := b.read()
		if v.Version > than || ended {
			return v.Version > than
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// follow yields the current view, and then the newest one after each change, until ctx ends or the
// last view has been yielded.
func (b *viewPublisher) follow(ctx context.Context) iter.Seq[View] {
	return func(yield func(View) bool) {
		for ctx.Err() == nil {
			v, _, _ := b.read()
			if !yield(v) || !b.next(ctx, v.Version) {
				return
			}
		}
	}
}
