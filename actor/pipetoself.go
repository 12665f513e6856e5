package actor

import (
	"context"

	"github.com/understudy-go/understudy/internal/guard"
)

type piped struct {
	value  any
	err    error
	handle func(c *cell, err error)
}

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
// letter. One that arrives after a restart is handled, and wrap must then not use state of the
// former incarnation; [AskToSelf] ends with the incarnation instead.
func PipeToSelf[T, M any](ctx *Context[M], f func(context.Context) (T, error), wrap func(T, error) M) {
	var value T
	ctx.in.pipe(func(within context.Context) (result any, err error) {
		value, err = f(within)
		return value, err
	}, func(c *cell, err error) { handleTask(c, wrap(value, err)) })
}

func (x *inside) pipe(f func(context.Context) (any, error), handle func(c *cell, err error)) {
	c, within, then := x.cell, x.within(), x.consequence()
	c.core.check("PipeToSelf")
	c.core.sys.background.Go(func() {
		p := &piped{handle: handle, err: guard.ErrGoexit} // unless f returns
		defer func() { c.post(item{task: p}, entrance{metadata: then}) }()
		p.err = guard.Run(func() (err error) {
			p.value, err = f(within)
			return err
		})
	})
}

func (p *piped) run(c *cell) { p.handle(c, p.err) }

func (p *piped) exempt() bool { return true }

func (p *piped) undelivered() (any, bool) { return p.value, p.err == nil }
