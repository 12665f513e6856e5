package actor

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/internal/payload"
)

// Why messages become dead letters, and what [Ask] answers. Compare with [errors.Is], also what
// comes from another node, see [RegisterError].
var (
	// ErrTerminated: the actor has ended.
	ErrTerminated = errors.New("actor: terminated")
	// ErrNoSuchActor: nobody lives at the path.
	ErrNoSuchActor = errors.New("actor: no such actor")
	// ErrStaleRef: another actor lives at the path now than the one that was meant.
	ErrStaleRef = errors.New("actor: the path has been taken over by another actor")
	// ErrNoRef: the message was told to the zero ActorRef, or to one of a malformed path.
	ErrNoRef = errors.New("actor: nobody's ActorRef")
	// ErrWrongType: the actor does not take messages of that type. The text names both.
	ErrWrongType = errors.New("actor: the actor does not take messages of this type")
	// ErrWithdrawn: the message was the request of an ask that had ended by its context or its
	// timeout before the message could be delivered. The error of such an ask wraps it, too:
	// then the request has not been handled, and will not be.
	ErrWithdrawn = errors.New("actor: the request was withdrawn, as nobody waits for the reply")
	// ErrMailboxFull: a bounded mailbox had no room.
	ErrMailboxFull = errors.New("actor: mailbox is full")
	// ErrStashFull: a stash had no room.
	ErrStashFull = errors.New("actor: stash is full")
	// ErrStaleHandler: the handler belonged to an incarnation that has been restarted since.
	ErrStaleHandler = errors.New("actor: the handler's incarnation has ended")
	// ErrLateReply: the ask had ended, by an earlier reply or by its context.
	ErrLateReply = errors.New("actor: reply came after the ask had ended")
	// ErrUnreachable: the node cannot be reached, or has left.
	ErrUnreachable = errors.New("actor: node cannot be reached")
	// ErrNotSerializable: the message cannot be encoded for the wire.
	ErrNotSerializable = payload.ErrNotSerializable
	// ErrNotDecodable: what arrived from the wire cannot be decoded.
	ErrNotDecodable = payload.ErrNotDecodable
	// ErrDropped: the recipient dropped the message by a rule of its own.
	ErrDropped = errors.New("actor: dropped")
)

// Why an actor fails by no fault of its own. Compare with [errors.Is].
var (
	// ErrDeathPact: it watches another, and has not handled the signal of its end. The
	// failure of a child, if that was the end, is wrapped too.
	ErrDeathPact = errors.New("actor: unhandled end of a watched actor")
	// ErrEscalated: a child has failed, whose strategy said [Escalate]. That failure is
	// wrapped too.
	ErrEscalated = errors.New("actor: escalated")
)

// ErrShutdownGoesOn is the error of a [System.Shutdown] with the context of an actor, for
// which that waits: it has begun, and is not over.
var ErrShutdownGoesOn = errors.New("actor: it goes on without who has called it")

// deadLetterReasons are the reasons by which dead letters are counted.
var deadLetterReasons = []error{
	ErrTerminated, ErrNoSuchActor, ErrStaleRef, ErrNoRef, ErrWrongType, ErrMailboxFull, ErrStashFull,
	ErrStaleHandler, ErrLateReply, ErrUnreachable, ErrNotSerializable, ErrNotDecodable, ErrDropped, ErrWithdrawn,
}

// wrongType returns an [ErrWrongType] that names the type of msg and M, which the actor takes.
func wrongType[M any](msg any) error {
	return fmt.Errorf("%w: it was told %s, and takes %v", ErrWrongType, payload.TypeName(msg), reflect.TypeFor[M]())
}

// errNoError is the failure of who fails with a nil error.
var errNoError = errors.New("actor: failed without an error")

// A PanicError is a panic in a behavior, as the failure of its actor, or in another function or
// method of yours that the framework has called, such as MarshalCBOR of a message. Its field
// Value is what was given to panic, and its field Stack is that of the goroutine that panicked.
// Error returns the value without the stack; Unwrap returns the value when it is an error.
type PanicError = guard.PanicError

// RegisterError gives sentinel the stable name under which it crosses the wire: on every
// node that has registered the same name, errors.Is(err, sentinel) is as true of an error
// that has come from another node as it was there. Call it from an init function, with a
// name that never changes. The errors of this package, context.Canceled and
// context.DeadlineExceeded have names already.
//
// It is for errors that are compared. An error type with fields, which is for errors.As,
// crosses when it is registered by [RegisterType].
//
// It panics when the name or the error is empty, and when the name belongs to another
// error, or the error has another name.
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
		"understudy/actor.withdrawn":  ErrWithdrawn,
		"understudy/actor.death-pact": ErrDeathPact, "understudy/actor.escalated": ErrEscalated,
	} {
		RegisterError(name, err)
	}
}
