package actor

import (
	"context"
	"sync"
	"time"
)

// A lifeContext is done when its actor is told to stop, or decides to. The machinery of
// a real context is made only when somebody waits for it, as most actors never do.
type lifeContext struct {
	parent context.Context // values, and the end of whatever is around the actor

	mu     sync.Mutex // guards all below
	inner  context.Context
	cancel context.CancelFunc
	ended  bool
	detach func() bool // from the context given to WithContext
}

func (l *lifeContext) Deadline() (time.Time, bool) { return l.parent.Deadline() }

func (l *lifeContext) Done() <-chan struct{} { return l.context().Done() }

func (l *lifeContext) Err() error {
	l.mu.Lock()
	ended := l.ended
	l.mu.Unlock()
	if ended {
		return context.Canceled
	}
	return l.parent.Err()
}

// Value looks in the inner context where there is one, by which context.WithCancel
// recognises its own kind and needs no goroutine to follow this one.
func (l *lifeContext) Value(key any) any {
	l.mu.Lock()
	inner := l.inner
	l.mu.Unlock()
	if inner != nil {
		return inner.Value(key)
	}
	return l.parent.Value(key)
}

func (l *lifeContext) context() context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.inner == nil {
		l.inner, l.cancel = context.WithCancel(l.parent)
		if l.ended {
			l.cancel()
		}
	}
	return l.inner
}

func (l *lifeContext) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	if l.cancel != nil {
		l.cancel()
	}
}

// release lets go of the context that was given to WithContext.
func (l *lifeContext) release() {
	l.end()
	if l.detach != nil {
		l.detach()
	}
}
