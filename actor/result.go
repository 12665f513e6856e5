package actor

import (
	"github.com/understudy-go/understudy/internal/codec"
)

// A Result is a reply that is a value or an error, for requests that may be refused. The
// replier tells Result[T]{Value: v} or Result[T]{Err: err}; [Unwrap] takes it apart. On
// this node the error is that of the replier itself. From another node arrives an error
// with the same text, of which errors.Is and errors.As find what is registered on both
// nodes: sentinels by [RegisterError], and error types by [RegisterType].
type Result[T any] struct {
	Value T
	Err   error
}

// Unwrap returns the value and the error of a result, or err, if that is not nil. It takes
// what an ask returns:
//
//	balance, err := actor.Unwrap(actor.Ask(ctx, account, request))
func Unwrap[T any](r Result[T], err error) (T, error) {
	if err != nil {
		var none T
		return none, err
	}
	return r.Value, r.Err
}

// wireResult is a Result on the wire.
type wireResult[T any] struct {
	_     struct{} `cbor:",toarray"`
	Value T
	Err   ErrorPayload
}

// MarshalCBOR encodes the value and the error.
func (r Result[T]) MarshalCBOR() ([]byte, error) {
	return codec.Marshal(wireResult[T]{Value: r.Value, Err: PackError(r.Err)})
}

// UnmarshalCBOR decodes what MarshalCBOR made.
func (r *Result[T]) UnmarshalCBOR(data []byte) error {
	var w wireResult[T]
	if err := codec.Unmarshal(data, &w); err != nil {
		return err
	}
	*r = Result[T]{Value: w.Value, Err: w.Err.Unpack(nil)}
	return nil
}
