package actor

import (
	"cmp"
	"context"
	"time"

	"github.com/understudy-go/understudy/internal/codec"
	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/payload"
)

// A Result is a reply that is a value or an error, for requests that may be refused. The actor
// replies with Result[T]{Value: v} or Result[T]{Err: err}; [AskResult] asks for one. On the same
// node the error is the one of the replier. From another node comes an error with the same text, in
// which errors.Is finds sentinels that [RegisterError] has named on both nodes, and errors.As error
// types that [RegisterType] has named.
type Result[T any] struct {
	Value T
	Err   error
}

// AskResult is [Ask] for a request whose reply is a [Result]. It returns the value, or the error of
// the ask or of the result:
//
//	balance, err := actor.AskResult(ctx, account, request)
func AskResult[M, T any](ctx context.Context, to ActorRef[M], request func(replyTo ActorRef[Result[T]]) M) (T, error) {
	r, err := Ask(ctx, to, request)
	return r.of(err)
}

// AskResultTimeout is [AskResult] with a deadline of its own, see [AskTimeout].
func AskResultTimeout[M, T any](ctx context.Context, to ActorRef[M], timeout time.Duration, request func(replyTo ActorRef[Result[T]]) M) (T, error) {
	r, err := AskTimeout(ctx, to, timeout, request)
	return r.of(err)
}

func (Result[T]) isResult() {}

func (r Result[T]) of(err error) (T, error) { return r.Value, cmp.Or(err, r.Err) }

type wireResult[T any] struct {
	_     struct{} `cbor:",toarray"`
	Value T
	Err   payload.Error
}

// MarshalCBOR encodes the value and the error.
func (r Result[T]) MarshalCBOR() ([]byte, error) {
	return codec.Marshal(wireResult[T]{Value: r.Value, Err: payload.PackError(r.Err)})
}

// UnmarshalCBOR decodes what MarshalCBOR made.
func (r *Result[T]) UnmarshalCBOR(data []byte) error {
	var w wireResult[T]
	if err := codec.Unmarshal(data, &w); err != nil {
		return err
	}
	*r = Result[T]{Value: w.Value, Err: payload.UnpackError(w.Err, binder{nil})}
	return nil
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

type piped struct {
	value  any
	err    error
	handle func(c *cell, err error)
}

func (p *piped) run(c *cell) { p.handle(c, p.err) }

func (p *piped) exempt() bool { return true }

func (p *piped) undelivered() (any, bool) { return p.value, p.err == nil }
