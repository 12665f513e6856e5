package actor

import (
	"context"

	"github.com/understudy-go/understudy/internal/guard"
)

// PipeToSelf runs f in its own goroutine, and sends the actor what wrap makes of its result; other
// messages are handled meanwhile. f gets the actor's context, which is done when the actor stops. A
// panic in f becomes a [*PanicError]. wrap runs inside the actor; a panic in it is a failure of the
// actor.
//
// f must not use the methods of ctx that are reserved for handlers, see [Context]. With the race
// detector, or the build tag understudy_debug, that panics in f and so becomes an error, whose text
// says what to do instead. So let wrap check the error.
//
// [System.Shutdown] waits for f to return. A value that arrives after the actor has ended is a dead
// letter.
func PipeToSelf[T, M any](ctx *Context[M], f func(context.Context) (T, error), wrap func(T, error) M) {
	c, within, then := ctx.cell, ctx.within(), ctx.consequence()
	c.core.check("PipeToSelf")
	c.core.sys.background.Go(func() {
		p := &piped[T, M]{wrap: wrap, err: guard.ErrGoexit} // unless f returns
		defer func() { c.post(item[M]{task: p}, entrance{metadata: then}) }()
		p.err = guard.Run(func() (err error) {
			p.value, err = f(within)
			return err
		})
	})
}

type piped[T, M any] struct {
	value T
	err   error
	wrap  func(T, error) M
}

func (p *piped[T, M]) run(c *cell[M]) { c.handleTaskMessage(p.wrap(p.value, p.err)) }

func (p *piped[T, M]) exempt() bool { return true }

func (p *piped[T, M]) undelivered() (any, bool) { return p.value, p.err == nil }
