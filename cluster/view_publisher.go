package cluster

import (
	"context"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/extension"
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

// Subscribe sends ref the views of n: the current one immediately, and the newest whenever it has
// changed, each once. While ref has not handled one, newer views replace it, so that no more than
// one ever waits, whatever the bound of the mailbox. A slow actor misses views, but never the
// newest. [View.Since] returns the events between two views.
//
// The subscription ends when its actor ends or cancel is called, which may be repeated. After the
// end of the node there are no more views. An actor that subscribes an [actor.Adapt] when it starts
// cancels the subscription when it restarts:
//
//	ctx.Defer(cluster.Subscribe(node, actor.Adapt(ctx, wrap)))
//
// n may be any node of the process, not only the one on which the actor runs. Subscribe panics if
// ref is not an actor of the process.
func Subscribe(n *Node, ref actor.ActorRef[View]) (cancel func()) {
	return n.views.subscribe(n.System, ref)
}

// subscribe sends an actor of this process the current view and the newest one after each change.
func (b *viewPublisher) subscribe(s *actor.System, ref actor.ActorRef[View]) (cancel func()) {
	var seen uint64
	var begun bool
	var over atomic.Bool
	notify := extension.TellLatest(ref, func() (View, bool) {
		v, _, _ := b.read()
		if over.Load() || begun && v.Version <= seen {
			return View{}, false
		}
		begun, seen = true, v.Version
		return v, true
	})
	forget := b.listen(notify)
	end := sync.OnceFunc(func() {
		over.Store(true)
		forget()
	})
	stop := extension.AfterEnd(s, ref, end)
	notify()
	return func() {
		stop()
		end()
	}
}
