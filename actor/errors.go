package actor

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/payload"
)

// The reasons of dead letters, which are also the errors of [Ask], and after them the failures of
// actors and systems. Compare with [errors.Is], also errors that come from another node, see
// [RegisterError].
var (
	// ErrTerminated: the actor has ended.
	ErrTerminated = errors.New("actor: terminated")
	// ErrNoSuchActor: no actor lives at the path.
	ErrNoSuchActor = errors.New("actor: no such actor")
	// ErrStaleRef: another actor than the one addressed now lives at the path.
	ErrStaleRef = errors.New("actor: the path has been taken over by another actor")
	// ErrNoRef: the message was sent to the zero ActorRef, or to one with a malformed path.
	ErrNoRef = errors.New("actor: the ActorRef addresses no actor")
	// ErrWrongType: the actor does not take messages of this type. The text names both types.
	ErrWrongType = errors.New("actor: the actor does not take messages of this type")
	// ErrWithdrawn: the message was the request of an ask whose context or timeout ended before an
	// actor began to handle it. If the request was still on the node of the asker, the error of
	// that ask wraps it as well: the request has not been handled, and will not be.
	ErrWithdrawn = errors.New("actor: the request was withdrawn, because its ask has ended")
	// ErrOverloaded: the message was the request of an ask, and the actor is so far behind that it
	// could hardly have answered in time. The request has not been handled, and will not be.
	// Callers that ask again should wait before they do. See docs/overload.md.
	ErrOverloaded = errors.New("actor: the actor is overloaded and does not begin the request")
	// ErrAskOfSelf: a handler has asked its own actor, and would have waited for itself.
	ErrAskOfSelf = errors.New("actor: a handler asks its own actor, which cannot answer meanwhile; call a function, or use AskToSelf")
	// ErrHandlerFailed: the handler of the request of an ask has failed before it replied. The error
	// wraps the failure; of an actor that it has ended also ErrTerminated. The request may have been
	// handled in part.
	ErrHandlerFailed = errors.New("actor: the handler has failed at the request")
	// ErrMailboxFull: the bounded mailbox was full.
	ErrMailboxFull = errors.New("actor: mailbox is full")
	// ErrStashFull: the stash was full.
	ErrStashFull = errors.New("actor: stash is full")
	// ErrStaleHandler: the handler belonged to an incarnation that has since been restarted.
	ErrStaleHandler = errors.New("actor: the handler's incarnation has ended")
	// ErrLateReply: the ask had already ended, by an earlier reply or by its context.
	ErrLateReply = errors.New("actor: reply came after the ask had ended")
	// ErrUnreachable: the node cannot be reached, or has left.
	ErrUnreachable = errors.New("actor: node cannot be reached")
	// ErrNotSerializable: the message cannot be encoded.
	ErrNotSerializable = payload.ErrNotSerializable
	// ErrNotDecodable: a message from another node cannot be decoded.
	ErrNotDecodable = payload.ErrNotDecodable
	// ErrDropped: the recipient dropped the message by a rule of its own.
	ErrDropped = errors.New("actor: dropped")

	// ErrDeathPact: the actor did not handle the signal that an actor it watches has ended. If
	// that was a failed child, its failure is wrapped too.
	ErrDeathPact = errors.New("actor: unhandled end of a watched actor")
	// ErrEscalated: a child failed whose strategy decided [Escalate]. Its failure is wrapped too.
	ErrEscalated = errors.New("actor: escalated")
	// ErrShutdownGoesOn is returned by [System.Shutdown] when it is called with an actor's own
	// context: the shutdown continues in the background, and the caller must not wait for it.
	ErrShutdownGoesOn = errors.New("actor: the shutdown continues in the background")
)

// deadLetterReasons are the errors under which dead letters are counted.
var deadLetterReasons = []error{
	ErrTerminated, ErrNoSuchActor, ErrStaleRef, ErrNoRef, ErrWrongType, ErrMailboxFull, ErrStashFull,
	ErrStaleHandler, ErrLateReply, ErrUnreachable, ErrNotSerializable, ErrNotDecodable, ErrDropped, ErrWithdrawn,
	ErrOverloaded,
}

// wrongType returns nil if msg is a message of type M, or else an [ErrWrongType].
func wrongType[M any](msg any) error {
	if _, ok := payload.As[M](msg); ok {
		return nil
	}
	return errWrongType(msg, reflect.TypeFor[M]())
}

// errWrongType returns an [ErrWrongType] that names the type of msg and the one that the actor
// takes.
func errWrongType(msg any, takes reflect.Type) error {
	return fmt.Errorf("%w: it got %s, and takes %v", ErrWrongType, payload.TypeName(msg), takes)
}

// errNoError is the failure of an actor that fails with a nil error.
var errNoError = errors.New("actor: failed without an error")

// A PanicError is a panic in a behavior, as the failure of its actor, or in another function or
// method of the user that the framework has called, such as MarshalCBOR of a message. Value is the
// argument of panic, and Stack the stack of the goroutine that panicked. Error returns the value
// without the stack; Unwrap returns the value if it is an error.
type PanicError = guard.PanicError

// RegisterError gives sentinel a stable name on the wire: if two nodes have registered the same
// name, errors.Is(err, sentinel) has the same result on both for an error sent from one to the
// other. Call it from an init function, with a name that never changes. The errors of this package,
// context.Canceled and context.DeadlineExceeded are already registered.
//
// It is for errors that are compared. An error type with fields, for errors.As, is registered by
// [RegisterType].
//
// RegisterError panics if name is empty or sentinel is nil, if sentinel is not comparable, if the
// name belongs to another error, or if sentinel has another name.
func RegisterError(name string, sentinel error) { payload.RegisterError(name, sentinel) }

func init() {
	for name, err := range map[string]error{
		"context.canceled": context.Canceled, "context.deadline-exceeded": context.DeadlineExceeded,
		"understudy/actor.terminated": ErrTerminated, "understudy/actor.no-such-actor": ErrNoSuchActor,
		"understudy/actor.stale-ref": ErrStaleRef, "understudy/actor.no-ref": ErrNoRef, "understudy/actor.wrong-type": ErrWrongType,
		"understudy/actor.mailbox-full": ErrMailboxFull, "understudy/actor.stash-full": ErrStashFull,
		"understudy/actor.stale-handler": ErrStaleHandler, "understudy/actor.late-reply": ErrLateReply,
		"understudy/actor.unreachable": ErrUnreachable, "understudy/actor.not-serializable": ErrNotSerializable,
		"understudy/actor.not-decodable": ErrNotDecodable, "understudy/actor.dropped": ErrDropped,
		"understudy/actor.withdrawn": ErrWithdrawn, "understudy/actor.overloaded": ErrOverloaded, "understudy/actor.handler-failed": ErrHandlerFailed,
		"understudy/actor.death-pact": ErrDeathPact, "understudy/actor.escalated": ErrEscalated,
	} {
		RegisterError(name, err)
	}
}
