package extension

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/metadata"
)

// Metadata is an immutable set of small values that travels with a message beside it, such as the
// context of a trace. The zero value is empty. Its Get and With methods read a value, and return a
// set with another value; neither retains the bytes of the caller. Metadata is comparable.
//
// Metadata that takes more than 1 KiB between nodes, about the sum of its values, is dropped, and
// the message is sent without it.
type Metadata = metadata.Metadata

// A MetadataKey identifies a value in [Metadata], also between nodes of different releases. Keys
// below 1000 belong to this module. Nodes keep keys that they do not know.
type MetadataKey = metadata.Key

// TellWith is [actor.ActorRef.Tell] for a message with metadata, which the handler of the message
// reads with [MetadataOf]. Metadata reaches actors of this node and of other nodes, also through
// adapters and stashes. It is lost where the message goes to an ask, and where a program passes the
// message on by Tell. A message with metadata costs an allocation more.
func TellWith[M any](ref actor.ActorRef[M], msg M, m Metadata) {
	if m.IsEmpty() {
		ref.Tell(msg)
		return
	}
	tellWith(ref, msg, m, false)
}

// TellNoWaitWith is likewise [actor.ActorRef.TellNoWait].
func TellNoWaitWith[M any](ref actor.ActorRef[M], msg M, m Metadata) {
	if m.IsEmpty() {
		ref.TellNoWait(msg)
		return
	}
	tellWith(ref, msg, m, true)
}

func tellWith(ref actor.AnyRef, msg any, m Metadata, parked bool) {
	actorhook.Internals(ref).(interface { // actor implements it
		TellWith(msg any, m metadata.Metadata, parked bool)
	}).TellWith(msg, m, parked)
}

// A Described is a message with its metadata, for those who keep messages to pass them on later.
type Described[M any] struct {
	Message  M
	Metadata Metadata
}

// Hold says that the message, which the actor has got, is kept until it can be passed on. If it is
// the request of an ask whose wait ends meanwhile, that is withdrawn: see [actor.ErrWithdrawn].
func (d Described[M]) Hold() Described[M] {
	if r := d.Metadata.Request(); r != nil {
		r.Keep()
	}
	return d
}

// Withdrawn reports whether the message is the request of an ask that has ended. Then nothing
// handles it any more, and a full buffer can drop it.
func (d Described[M]) Withdrawn() bool {
	r := d.Metadata.Request()
	return r != nil && r.Over()
}

// Describe returns msg with the metadata of the message that the actor is handling. Only handlers
// of the actor may call it.
func Describe[M, T any](ctx *actor.Context[M], msg T) Described[T] {
	return Described[T]{msg, MetadataOf(ctx)}
}

// To sends the message to an actor without waiting, see [TellNoWaitWith].
func (d Described[M]) To(to actor.ActorRef[M]) { TellNoWaitWith(to, d.Message, d.Metadata) }

// PassOn is To for a message that no other actor will get. A pending Ask or AskToSelf of this
// system that waits for a reply to it ends like one of that actor, for instance when the actor's
// node is removed from the cluster.
func (d Described[M]) PassOn(to actor.ActorRef[M]) {
	if actorhook.Internals(to).(interface{ PassOn(msg any) (goesOn bool) }).PassOn(d.Message) { // actor implements it
		TellNoWaitWith(to, d.Message, d.Metadata)
	}
}

// MetadataOf returns the metadata of the message that the actor is handling. It is empty for a
// message without metadata, and for signals. Only handlers of the actor may call it.
func MetadataOf[M any](ctx *actor.Context[M]) Metadata {
	return actorhook.Internals(ctx).(interface { // actor implements it
		Metadata() metadata.Metadata
	}).Metadata()
}
