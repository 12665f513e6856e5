package actor

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// A lifeContext is the context.Context of its actor, which is done when the actor is told to stop
// or stops itself.
type lifeContext core

// Most actors never need one: it is created for Done, or for extension.WithContext.
type life struct {
	given context.Context // to extension.WithContext; may be nil

	mu     sync.Mutex
	inner  context.Context
	cancel context.CancelFunc
	detach func() bool // from given
}

func (l *lifeContext) kept() *atomic.Pointer[life] {
	return &l.impl.(*cell).life // only cells have a context
}

// context is the parent context of the actor's children.
func (c *core) context() context.Context { return (*lifeContext)(c) }

func (l *lifeContext) around() context.Context {
	if made := l.kept().Load(); made != nil && made.given != nil {
		return made.given
	}
	if l.parent.parent == nil { // a guardian
		return context.Background()
	}
	return l.parent.context()
}

func (l *lifeContext) Deadline() (time.Time, bool) { return l.around().Deadline() }

func (l *lifeContext) Done() <-chan struct{} { return l.context().Done() }

func (l *lifeContext) Err() error {
	if !l.flags.has(ended) && l.around().Err() == nil {
		return nil
	}
	return l.context().Err() // remembers the first reason
}

// Value asks the inner context if there is one: context.WithCancel thereby recognises its own type
// and needs no goroutine.
func (l *lifeContext) Value(key any) any {
	if _, owner := key.(ownerKey); owner {
		return (*core)(l)
	}
	if label := l.profileLabel(); label != nil {
		if v := label.Value(key); v != nil {
			return v
		}
	}
	if made := l.kept().Load(); made != nil {
		made.mu.Lock()
		inner := made.inner
		made.mu.Unlock()
		if inner != nil {
			return inner.Value(key)
		}
	}
	return l.around().Value(key)
}

func (l *lifeContext) context() context.Context {
	made := l.kept().Load()
	if made == nil {
		l.kept().CompareAndSwap(nil, new(life))
		made = l.kept().Load()
	}
	made.mu.Lock()
	defer made.mu.Unlock()
	if made.inner == nil {
		made.inner, made.cancel = context.WithCancel(l.around())
	}
	if l.flags.has(ended) {
		made.cancel()
	}
	return made.inner
}

func (b *inbox) endLife() {
	b.core.flags.set(ended) // first, so that a life created now sees it
	made := b.life.Load()
	if made == nil {
		return
	}
	made.mu.Lock()
	defer made.mu.Unlock()
	if made.cancel != nil {
		made.cancel()
	}
}

// ctx was given to extension.WithContext.
func (b *inbox) stopWith(ctx context.Context) {
	made := b.life.Load()
	detach := context.AfterFunc(ctx, func() { b.signal(systemMsg{kind: sysStop}) })
	made.mu.Lock()
	defer made.mu.Unlock()
	made.detach = detach
}

func (b *inbox) releaseLife() {
	b.endLife()
	made := b.life.Load()
	if made == nil {
		return
	}
	made.mu.Lock()
	defer made.mu.Unlock()
	if made.detach != nil {
		made.detach()
	}
}
