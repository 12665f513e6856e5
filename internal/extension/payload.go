package extension

import (
	"fmt"
	"reflect"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/payload"
)

// A Payload is an encoded message, event or state. Type is the name that [actor.RegisterType] gave
// its type, and Data is its CBOR encoding. The zero Payload stands for a nil message.
type Payload = payload.Payload

// An ErrorPayload is an encoded error. Failed is false for the nil error. Text is the error text.
// Is has the sorted names of the wrapped errors that [actor.RegisterError] has named. As has the
// encoded errors of the tree whose types [actor.RegisterType] has named, outermost first.
type ErrorPayload = payload.Error

// Pack encodes v. Refs inside become reachable from other nodes. Its errors wrap
// [actor.ErrNotSerializable], name the type and the field, and say what to do; see
// [actor.RegisterType] for the values that cannot be encoded. A panic in a method of v is returned
// as an error, too.
func Pack(v any) (Payload, error) { return payload.Pack(v) }

// PackMessage is like [Pack], but encodes a nil msg as the zero Payload.
func PackMessage(msg any) (Payload, error) {
	if msg == nil {
		return Payload{}, nil
	}
	return Pack(msg)
}

// Unpack decodes p; the zero Payload is nil. Refs inside belong to s, which may be nil if p has no
// refs. Its errors wrap [actor.ErrNotDecodable] and say what to do; a panic in a method of the
// value is one of them.
func Unpack(s *actor.System, p Payload) (any, error) { return payload.Unpack(p, binder(s)) }

// UnpackMessage is like [Unpack], for an actor that takes messages of type M. If the value is no M
// the error wraps [actor.ErrWrongType], and content is the value; if it cannot be decoded, content
// is p. A nil message is valid if M is an interface.
func UnpackMessage[M any](s *actor.System, p Payload) (msg M, content any, err error) {
	if content, err = Unpack(s, p); err != nil {
		return msg, p, err
	}
	msg, ok := payload.As[M](content)
	if !ok {
		return msg, content, wrongType[M](content)
	}
	return msg, content, nil
}

func wrongType[M any](msg any) error {
	return fmt.Errorf("%w: it got %s, and takes %v", actor.ErrWrongType, payload.TypeName(msg), reflect.TypeFor[M]())
}

// PackError encodes err. It never fails: parts that cannot be encoded are omitted, and the text
// remains. If a method of err panics, the text describes the panic.
func PackError(err error) ErrorPayload { return payload.PackError(err) }

// UnpackError decodes p: nil for the nil error, otherwise an error with the same text, in which
// errors.Is and errors.As find the errors that are registered on this node too. Refs inside belong
// to s, which may be nil if p has no refs.
func UnpackError(s *actor.System, p ErrorPayload) error { return payload.UnpackError(p, binder(s)) }

func binder(s *actor.System) payload.Binder { return actorhook.Binder(s) }

// WithEncoding makes the system encode and decode each message between its own actors, as between
// nodes. The recipient gets the copy. Tests in which one node stands for many use it to find types
// that are not registered, fields that are not exported, and messages that two actors share.
// Packages testkit and testkit/clustertest use it.
//
// The system encodes messages sent by Tell, TellAfter, [Deliver] and asks, and the replies to asks,
// even if an actor sends to itself. It does not encode:
//
//   - messages of timers, PipeToSelf and WatchWith;
//   - messages made by the functions of adapters and of AskToSelf;
//   - signals, and events of Subscribe;
//   - messages with a method LocalOnly() bool that returns true. Such a type declares that its
//     values stay on their node.
//
// A message that cannot be encoded or decoded is a dead letter with [actor.ErrNotSerializable] or
// [actor.ErrNotDecodable], and its ask ends immediately. failed is called first, in the goroutine
// of the sender; it must not block. A nil failed turns encoding off, which is the default.
func WithEncoding(failed func(recipient string, msg any, err error)) actor.Option {
	return func(s *actor.System) { of(s).SetEncoding(failed) }
}

// CheckFields returns an [actor.ErrNotSerializable] if v has a value in a field that is not
// exported and would be lost by encoding. It checks only in systems with [WithEncoding], as it
// takes time. Extensions that store values use it.
func CheckFields(s *actor.System, v any) error { return of(s).CheckFields(v) }
