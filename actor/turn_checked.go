//go:build race || understudy_debug

package actor

import (
	"fmt"
	"sync/atomic"
)

// The use of a Context by another goroutine is noticed.
type owner struct{ goroutine atomic.Uint64 } // 0: no turn

func (o *owner) begin() { o.goroutine.Store(goroutine()) }

func (o *owner) end() { o.goroutine.Store(0) }

// Another goroutine is to call the result in place of the turn's.
func (o *owner) lend(f func()) func() {
	return func() {
		lender := o.goroutine.Load()
		defer o.goroutine.Store(lender)
		o.begin()
		f()
	}
}

func (c *core) check(what string) {
	if a := c.actor(); a.owner.goroutine.Load() != goroutine() {
		panic(fmt.Sprintf("actor: %s with the Context of %s outside of its handlers, by another goroutine or kept by another actor: "+
			"tell the actor a message, or use PipeToSelf or AskToSelf; a goroutine may use the context.Context and refs", what, a.path()))
	}
}
