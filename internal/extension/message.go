package extension

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/metadata"
	"github.com/understudy-go/understudy/internal/payload"
)

// DeadLetter publishes msg as an [actor.DeadLetter], counts it and logs it. It is not logged while
// too many are, during the shutdown of the system, and when msg has a method QuietDeadLetter().
// Extensions that carry messages use it, and actors that drop messages by a rule of their own. A
// message that is itself an actor.DeadLetter is only counted and logged, which prevents loops.
//
// A pending Ask or AskToSelf whose reply ref is in msg ends with reason, on whichever node it
// waits; so does one to which msg is the reply. Refs are found in structs, slices and pointers,
// exported or not, but not in maps, in functions, or beside a mutex.
//
// A msg with a method Carried(*actor.System) (recipient string, msg any, ok bool) may carry
// another one. The message that it returns becomes the dead letter instead; if ok is false, none
// does.
func DeadLetter(s *actor.System, recipient string, msg any, reason error) {
	of(s).DeadLetter(recipient, msg, reason)
}

// Quiet is embedded in messages of our own actors that become no dead letters.
type Quiet struct{}

// Carried implements what [DeadLetter] asks: the message carries no other one.
func (Quiet) Carried(*actor.System) (recipient string, msg any, ok bool) { return "", nil, false }

// Refuse ends the asks, on any node, that wait for a reply to msg: it has been handled without
// success, and its actor will not reply.
func Refuse(s *actor.System, msg any, why error) { of(s).Refuse(msg, why) }

// Explain says why the request msg, which may be encoded, is kept for now. If its ask, on any node,
// ends meanwhile by its context or timeout, its error wraps why.
func Explain(s *actor.System, msg any, why error) { of(s).Explain(msg, why) }

// Follow lets the asks of this system that wait for a reply to msg end with the actor behind to, as
// asks of that actor do, for instance when its node is removed from the cluster. It is for a router
// that sends msg to the node of to in another way. Each Follow takes the place of the one before.
func Follow(to actor.AnyRef, msg any) { FollowOr(to, msg, nil) }

// FollowOr is [Follow] for a router that can send msg again. If a node refuses msg, because no
// actor lives at the path recipient there, again is called, by any goroutine. It must not block. If
// it returns true, the router sends msg again, and its asks go on.
//
// Another process may have the address of the node of to, and lack what that had. An actor that has
// handled msg may have passed it on to an actor that is nowhere, so again has to look at recipient.
func FollowOr(to actor.AnyRef, msg any, again func(recipient string) bool) {
	actorhook.Internals(to).(interface { // actor implements it
		Follow(msg any, again func(recipient string) bool)
	}).Follow(msg, again)
}

// FollowNobody ends what [Follow] has begun: msg is with no other node any more.
func FollowNobody(s *actor.System, msg any) { of(s).FollowNobody(msg) }

// Unfollow ends what [Follow] has begun for all asks that follow the actor behind to. Its node is
// about to leave, and passes on what it has.
func Unfollow(to actor.AnyRef) {
	actorhook.Internals(to).(interface{ Unfollow() }).Unfollow() // actor implements it
}

// NoteBroadcast announces that msg is sent to several actors: an ask that waits for a reply to it
// does not end when one of them cannot be reached. Call it before sending.
func NoteBroadcast(s *actor.System, msg any) { of(s).NoteBroadcast(msg) }

// A HandlingError is the failure of an actor while it handled one message, see [Deliver]. Read the
// log line "actor failed" of that actor.
//
// Err is the failure as an [actor.Strategy] sees it. Ended is true if the failure ends the actor;
// otherwise its supervision lets it resume or restart.
type HandlingError = actorhook.HandlingError

// Deliver sends msg to an actor of this node, and calls done exactly once with the outcome:
//
//	nil                 a handler has returned, even if it returned Unhandled or stopped the actor
//	a [*HandlingError]  the actor failed while it handled msg
//	another error       msg will never be handled, for instance [actor.ErrTerminated]. It is no
//	                    dead letter: done decides what becomes of it.
//
// done is called before the watchers of the actor learn of its end, in the order in which messages
// were delivered, by whichever goroutine notices the outcome, possibly before Deliver returns. It
// must not block; its panics are logged. Deliver does not wait for a place in a blocking mailbox,
// see [actor.ActorRef.TellNoWait]. If ref does not belong to an actor of this node, nothing is
// sent, and done gets [actor.ErrNoSuchActor] in the caller's goroutine.
func Deliver[M any](ref actor.ActorRef[M], msg M, done func(err error)) {
	DeliverWith(ref, msg, Metadata{}, done)
}

// DeliverWith is likewise [TellWith].
func DeliverWith[M any](ref actor.ActorRef[M], msg M, m Metadata, done func(err error)) {
	actorhook.Internals(ref).(interface { // actor implements it
		Deliver(msg any, m metadata.Metadata, done func(err error))
	}).Deliver(msg, m, done)
}

// TellLatest returns a function that sends an actor of this process the newest value of something
// that changes. After notify is called, the actor calls read in its turn, in its place
// among the messages, and handles the value if read returns true. Calls of notify while one waits
// are one: the actor may skip values, but never the newest, and no more than one ever waits,
// whatever the bound of its mailbox.
//
// notify may be called by any goroutine and does not block. It does nothing when the actor has
// ended. TellLatest panics if ref is not an actor of this process.
func TellLatest[M any](ref actor.ActorRef[M], read func() (M, bool)) (notify func()) {
	return actorhook.Internals(ref).(interface { // actor implements it
		TellLatest(read func() (any, bool)) (notify func())
	}).TellLatest(func() (any, bool) { return read() })
}

// TellBeyondBound tells an actor of this system a message for which no bound of its mailbox counts,
// in its place among the other messages.
func TellBeyondBound[M any](ref actor.ActorRef[M], msg M) {
	actorhook.Internals(ref).(interface{ TellBeyondBound(msg any) }).TellBeyondBound(msg) // actor implements it
}

// Bypass lets messages that handler, the current message handler of the actor, would only tell to
// child go directly into the child's mailbox, which saves a turn for each. It takes effect as soon
// as the mailbox of the actor is empty. Messages of one sender stay in order. Messages of [Deliver]
// and of adapters still come to the actor; while one of them waits, so do all later ones.
//
// The bypass ends
//
//   - with Bypass of the zero ActorRef. The messages bypassed until then are in the mailbox of the
//     child, before any that the actor tells it afterwards, and before its end by
//     [actor.Context.Drain];
//   - when the child ends;
//   - when the actor restarts, stops, or gets another handler.
//
// Bypass has no effect if the handler of the actor is not this very function but one that wraps it,
// or if the mailbox is bounded or prioritized. It panics if child is not a child of the actor.
// Only handlers of the actor may call it.
func Bypass[M any](ctx *actor.Context[M], handler actor.MessageHandler[M], child actor.ActorRef[M]) {
	actorhook.Internals(ctx).(interface { // actor implements it
		Bypass(handler any, child actor.AnyRef)
	}).Bypass(handler, child)
}

// Handle returns a ref whose messages go to handle instead of the behavior, in their place among
// the other messages of the actor. Wrappers use it for a protocol of their own, beside the protocol
// of the wrapped behavior. The bound of a mailbox does not count these messages. The ref is valid
// for the current incarnation only: after a restart its messages are dead letters with
// [actor.ErrStaleHandler]. Only handlers of the actor may call Handle.
func Handle[T, M any](ctx *actor.Context[M], handle func(T) actor.Behavior[M]) (ref actor.ActorRef[T]) {
	actorhook.SetRef(&ref, actorhook.Internals(ctx).(interface { // actor implements it
		Handler(accept func(msg any) error, handle func(msg any) any) any
	}).Handler(accept[T], func(msg any) any {
		m, _ := msg.(T) // it has been accepted; a nil is the zero value
		return anyBehavior(handle(m))
	}))
	return ref
}

// anyBehavior returns b, but nil for a nil Behavior.
func anyBehavior[M any](b actor.Behavior[M]) any {
	if b == nil {
		return nil
	}
	return b
}

// accept returns why msg is no T, or nil.
func accept[T any](msg any) error {
	if _, ok := payload.As[T](msg); !ok {
		return wrongType[T](msg)
	}
	return nil
}
