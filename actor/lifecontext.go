package actor

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// A lifeContext is a core as the context.Context of its actor, which is done when the actor is told
// to stop or stops itself.
type lifeContext core

// A life is the real context of an actor. It is created when somebody needs Done, as most actors
// never do, or when extension.WithContext was used.
type life struct {
	given context.Context // to extension.WithContext; may be nil

	mu     sync.Mutex // guards all below
	inner  context.Context
	cancel context.CancelFunc
	detach func() bool // from given
}

// lifeOf returns where the life of an actor is kept.
func lifeOf(c *core) *atomic.Pointer[life] {
	return c.impl.(interface{ ownLife() *atomic.Pointer[life] }).ownLife() // only cells have a context
}

// context returns the context of the actor, which is the parent context of its children.
func (c *core) context() context.Context { return (*lifeContext)(c) }

// around returns the parent context.
func (l *lifeContext) around() context.Context {
	if made := lifeOf((*core)(l)).Load(); made != nil && made.given != nil {
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
	if made := lifeOf((*core)(l)).Load(); made != nil {
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
	made := lifeOf((*core)(l)).Load()
	if made == nil {
		lifeOf((*core)(l)).CompareAndSwap(nil, new(life))
		made = lifeOf((*core)(l)).Load()
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

// endLife ends the context. at is where the life of c is kept.
func (c *core) endLife(at *atomic.Pointer[life]) {
	c.flags.set(ended) // first, so that a life created now sees it
	made := at.Load()
	if made == nil {
		return
	}
	made.mu.Lock()
	defer made.mu.Unlock()
	if made.cancel != nil {
		made.cancel()
	}
}

// stopWith calls stop when ctx, which was given to extension.WithContext, is done.
func (c *core) stopWith(at *atomic.Pointer[life], ctx context.Context, stop func()) {
	made := at.Load()
	detach := context.AfterFunc(ctx, stop)
	made.mu.Lock()
	defer made.mu.Unlock()
	made.detach = detach
}

// releaseLife ends the context, and detaches it from the one given to extension.WithContext.
func (c *core) releaseLife(at *atomic.Pointer[life]) {
	c.endLife(at)
	made := at.Load()
	if made == nil {
		return
	}
	made.mu.Lock()
	defer made.mu.Unlock()
	if made.detach != nil {
		made.detach()
	}
}
