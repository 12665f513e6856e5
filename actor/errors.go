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
	// ErrTerminated: the actor has ended. This is normal in a shutdown. Otherwise find its failure
	// in the log, and supervise the actor if it should be restarted.
	ErrTerminated = errors.New("actor: terminated")
	// ErrNoSuchActor: no actor lives at the path: it was not spawned on that node, or has ended.
	// Check the path, or find actors by package receptionist. For an entity, the text says which
	// type the node or client lacks.
	ErrNoSuchActor = errors.New("actor: no such actor")
	// ErrStaleRef: the actor of the ref has ended, and another one has its path. Get a new ref.
	// Refs of singletons, entities and placed actors never become stale.
	ErrStaleRef = errors.New("actor: the path has been taken over by another actor")
	// ErrNoRef: the message was sent to the zero ActorRef, or to one with a malformed path. Usually
	// a field such as ReplyTo was not set.
	ErrNoRef = errors.New("actor: the ActorRef addresses no actor")
	// ErrWrongType: the actor does not take messages of this type. The text names both types. Check
	// the type parameter of [Resolve], of singleton.Ref or of the service key.
	ErrWrongType = errors.New("actor: the actor does not take messages of this type")
	// ErrWithdrawn: the ask ended before an actor began to handle its request. If the request was
	// still on the node of the asker, the error of that ask wraps it as well. The request will not
	// be handled: you may safely ask again.
	ErrWithdrawn = errors.New("actor: the request was withdrawn, because its ask has ended")
	// ErrOverloaded: the actor is so far behind that it could hardly have answered in time. The
	// request will not be handled. Answer 503 with Retry-After; callers that ask again should wait
	// before they do. See docs/overload.md.
	ErrOverloaded = errors.New("actor: the actor is overloaded and does not begin the request")
	// ErrAskOfSelf: a handler has asked its own actor, and would have waited for itself. Call the
	// function that would answer, or use [AskToSelf].
	ErrAskOfSelf = errors.New("actor: a handler asks its own actor, which cannot answer meanwhile; call a function, or use AskToSelf")
	// ErrHandlerFailed: a handler has failed at the request of an ask before it replied, and its
	// actor is restarted or ends. The error wraps the failure, and ErrTerminated at the end. The
	// request may have been handled in part: repair what fails, and ask again with a key.
	ErrHandlerFailed = errors.New("actor: the handler has failed at the request")
	// ErrMailboxFull: the bounded mailbox was full; with [Mailbox.Block], for longer than the
	// sender may wait. Find out why the handler is slow, then raise the bound, or let senders ask.
	ErrMailboxFull = errors.New("actor: mailbox is full")
	// ErrStashFull: the stash was full, or the actor is suspended between restarts and has no more
	// room. Raise the capacity, or end the state that stashes sooner, for example by a timeout.
	ErrStashFull = errors.New("actor: stash is full")
	// ErrStaleHandler: a reply or a piped result came for an incarnation that has since been
	// restarted. Ask again after a restart if the result matters.
	ErrStaleHandler = errors.New("actor: the handler's incarnation has ended")
	// ErrLateReply: the ask had already ended, by an earlier reply or by its context. Many of them
	// mean that the deadline is shorter than the work, or that a handler replies twice.
	ErrLateReply = errors.New("actor: reply came after the ask had ended")
	// ErrUnreachable: the node cannot be reached, or was removed from the cluster. The text has the
	// cause. Check the links on the status page. For a singleton or an entity, ask again: another
	// node takes over.
	ErrUnreachable = errors.New("actor: node cannot be reached")
	// ErrNotSerializable: the message cannot be encoded: its type is not registered, or a field
	// cannot be sent, such as a channel. The text names the type and the line of code to add.
	ErrNotSerializable = payload.ErrNotSerializable
	// ErrNotDecodable: a message from another node cannot be decoded: its type is not registered
	// here, or has fields of another kind. Import the package that registers it, or upgrade this
	// node first.
	ErrNotDecodable = payload.ErrNotDecodable
	// ErrDropped: the recipient has cleared a stash, or was restarted while the message was stashed
	// inside supervision. The sender may repeat it.
	ErrDropped = errors.New("actor: dropped")

	// ErrDeathPact: the actor did not handle the signal that an actor it watches has ended. Handle
	// [Terminated] and [ChildFailed] with OnSignal, or do not watch. The failure of a child is
	// wrapped too.
	ErrDeathPact = errors.New("actor: unhandled end of a watched actor")
	// ErrEscalated: the actor failed, because a child failed whose strategy decided [Escalate]. Its
	// failure, which is wrapped too, is the one to repair.
	ErrEscalated = errors.New("actor: escalated")
	// ErrShutdownGoesOn: an actor has called [System.Shutdown] with its own context. The shutdown
	// continues in the background and waits for the actor, so ignore the error there, and wait in
	// main for [System.Terminated].
	ErrShutdownGoesOn = errors.New("actor: the shutdown continues in the background")
)

var deadLetterReasons = []error{
	ErrTerminated, ErrNoSuchActor, ErrStaleRef, ErrNoRef, ErrWrongType, ErrMailboxFull, ErrStashFull,
	ErrStaleHandler, ErrLateReply, ErrUnreachable, ErrNotSerializable, ErrNotDecodable, ErrDropped, ErrWithdrawn,
	ErrOverloaded,
}

func wrongType[M any](msg any) error {
	if _, ok := payload.As[M](msg); ok {
		return nil
	}
	return errWrongType(msg, reflect.TypeFor[M]())
}

func errWrongType(msg any, takes reflect.Type) error {
	return fmt.Errorf("%w: it got %s, and takes %v", ErrWrongType, payload.TypeName(msg), takes)
}

var errNoError = errors.New("actor: failed without an error")

// A PanicError is a panic in a behavior, or in another function of the user that the framework has
// called, such as MarshalCBOR of a message. Find it with [errors.As]. The log line "actor failed"
// has the stack: repair the code at its top.
type PanicError struct {
	Value any    // what was given to panic
	Stack []byte // of the goroutine that panicked
}

// Error returns the value of the panic, without the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns the value of the panic if it is an error.
func (e *PanicError) Unwrap() error { return (*guard.PanicError)(e).Unwrap() }

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
