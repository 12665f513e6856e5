package actor

import (
	"context"

	"github.com/understudy-go/understudy/internal/guard"
)

// PipeToSelf runs f in a goroutine of its own, and tells the actor what wrap makes of
// its result. f gets the actor's context, which is done when the actor stops; a panic
// in f is an error of type [*PanicError]. wrap runs inside the actor; a panic in it is
// a failure of the actor. Other messages are handled meanwhile.
//
// f must not use the methods of ctx that are for the actor's own handlers, see [Context]. With
// the race detector, or the build tag understudy_debug, it panics where it does; as any panic
// in f that is an error for wrap, and its text says what to do instead. So have wrap look at
// the error.
//
// System.Shutdown waits for f to return. A value that comes when the actor has ended is
// a dead letter.
func PipeToSelf[T, M any](ctx *Context[M], f func(context.Context) (T, error), wrap func(T, error) M) {
	c, life := ctx.cell, ctx.life()
	c.check("PipeToSelf")
	c.sys.background.Go(func() {
		p := &piped[T, M]{wrap: wrap, err: guard.ErrGoexit} // unless f returns
		defer func() { c.post(item[M]{task: p}, entrance{}) }()
		p.err = guard.Run(func() (err error) {
			p.value, err = f(life)
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
