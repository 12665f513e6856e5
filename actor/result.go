package actor

import (
	"cmp"
	"context"
	"time"

	"github.com/understudy-go/understudy/internal/codec"
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

type wireResult[T any] struct {
	_     struct{} `cbor:",toarray"`
	Value T
	Err   payload.Error
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

func (Result[T]) isResult() {}

func (r Result[T]) of(err error) (T, error) { return r.Value, cmp.Or(err, r.Err) }
