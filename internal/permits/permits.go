// Package permits limits how many actors of a system recover at the same time. Those that wait are
// of classes, which are served in turn.
package permits

import (
	"context"
	"sync"

	"github.com/understudy-go/understudy/internal/turns"
)

// Permits is a semaphore. Any goroutine may call its methods.
type Permits struct {
	mu      sync.Mutex // guards all below
	free    int        // zero while anybody waits
	waiting turns.Queue[string, *waiter]
}

type waiter struct {
	granted chan struct{}
	gone    bool // it has given up, and leaves when it is its turn
}

// New returns n permits.
func New(n int) *Permits { return &Permits{free: n} }

// Try takes a permit if one is free.
func (p *Permits) Try() (taken bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.free == 0 {
		return false
	}
	p.free--
	return true
}

// Acquire waits for a permit, in turn with other classes. It returns ctx.Err() if ctx ends first.
func (p *Permits) Acquire(ctx context.Context, class string) error {
	w := p.enter(class)
	select {
	case <-w.granted:
		return nil
	case <-ctx.Done():
		p.leave(w)
		return ctx.Err()
	}
}

func (p *Permits) enter(class string) *waiter {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := &waiter{granted: make(chan struct{})}
	p.waiting.Push(class, w)
	if p.free > 0 {
		p.free--
		p.grant()
	}
	return w
}

// A permit that has been granted meanwhile goes to the next.
func (p *Permits) leave(w *waiter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w.gone = true
	select {
	case <-w.granted:
		p.grant()
	default:
	}
}

// Release returns a permit, which the next of those that wait gets.
func (p *Permits) Release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.grant()
}

// mu is held.
func (p *Permits) grant() {
	for {
		_, w, ok := p.waiting.Pop(func(string) bool { return false })
		switch {
		case !ok:
			p.free++
			return
		case !w.gone:
			close(w.granted)
			return
		}
	}
}

// Waiting returns how many actors of a class wait for permits.
func (p *Permits) Waiting(class string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waiting.Len(class)
}

type classKey struct{}

// WithClass returns a context for an actor which, with its descendants, is of a class.
func WithClass(ctx context.Context, class string) context.Context {
	return context.WithValue(ctx, classKey{}, class)
}

// ClassOf returns the class of the actor with context ctx; "" if it has none.
func ClassOf(ctx context.Context) string {
	class, _ := ctx.Value(classKey{}).(string)
	return class
}
