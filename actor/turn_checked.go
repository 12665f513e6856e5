//go:build race || understudy_debug

package actor

import (
	"fmt"
	"sync/atomic"
)

// owner is the goroutine of the turn, so that the use of a Context by another is noticed.
type owner struct{ goroutine atomic.Uint64 } // 0: no turn

func (o *owner) begin() { o.goroutine.Store(goroutine()) }

func (o *owner) end() { o.goroutine.Store(0) }

// lend returns f, which another goroutine is to call in place of the turn's.
func (o *owner) lend(f func()) func() {
	return func() {
		lender := o.goroutine.Load()
		defer o.goroutine.Store(lender)
		o.begin()
		f()
	}
}

// check panics when it is not called by the goroutine of the turn.
func (c *core) check(what string) {
	if a := c.actor(); a.owner.goroutine.Load() != goroutine() {
		panic(fmt.Sprintf("actor: %s with the Context of %s outside of its handlers, by another goroutine or kept by another actor: "+
			"tell the actor a message, or use PipeToSelf or AskToSelf; a goroutine may use the context.Context and refs", what, a.path()))
	}
}
