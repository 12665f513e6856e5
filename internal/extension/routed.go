package extension

import (
	"context"
	"sync/atomic"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/metadata"
)

// A Router finds, for each message to a routed ref, the actor that handles it: on this node, or on
// another one. Any goroutine may call its methods, also at the same time. They must not block.
type Router interface {
	// Told takes a message that was told on this node to the ref with a full path, which has no
	// address. If the actor is here, and takes messages directly from now on, Told returns what
	// [SpawnReturning] has returned; otherwise it returns nil.
	Told(full string, msg any, m Metadata) (here actor.AnyRef)

	// Arrived takes a message of another node. from is the number that it has given to [SendTo],
	// or 0. encoded is the same message; it is valid until Arrived returns.
	Arrived(path string, from uint64, msg any, encoded Arrival) (here actor.AnyRef)
}

// A StraightRouter is a [Router] that lets messages of other nodes go straight into the mailboxes
// of actors. These need no ref on this node.
type StraightRouter interface {
	Router
	// Straight returns the actor, as [SpawnReturning] has returned it, to which Arrived would now
	// only [Returning.Offer] a message, from whichever node. name is what follows the prefix in the
	// path of another node, and may be anything. Straight returns nil if there is no such actor. A
	// message that the actor does not take any more goes to Arrived.
	Straight(name string) (here actor.AnyRef)
}

// A BypassedRouter gets messages of other nodes for which there need not be a ref on this node. Any
// goroutine may call its methods, also at the same time. They must not block.
type BypassedRouter interface {
	// Bypassed returns an actor whose [Bypass], if it is open, takes the messages for a name from
	// whichever node: Arrived would only tell them the actor. It returns nil if there is no such
	// actor, and while a message that Arrived has got has not come to the actor. name may be
	// anything.
	Bypassed(name string) (around actor.AnyRef)
	// Arrived gets all others. from is the number that the other node has given to [SendTo].
	// encoded is valid until Arrived returns.
	Arrived(name string, from uint64, encoded Arrival)
}

// AddBypassed adds a router for the messages of other nodes to the paths that are "/tree/" followed
// by a name without a slash. The first router of a tree stays.
func AddBypassed(s *actor.System, tree string, by BypassedRouter) { of(s).AddTree(tree, nil, by) }

// An Arrival is an encoded message of another node.
type Arrival = actorhook.Arrival

// NewRoutedRefs returns a function that returns the ref with the path that is prefix, such as
// "/sharding/cart/", followed by name. Refs with one path are equal as long as one of them exists.
// They have no address: on each node that has a router under the same prefix, a ref means the same
// actor. They cannot be watched. by may be a [StraightRouter].
func NewRoutedRefs[M any](s *actor.System, prefix string, by Router) (ref func(name string) actor.ActorRef[M]) {
	find := of(s).Routed(prefix, accept[M], refTo[M], by)
	return func(name string) actor.ActorRef[M] { return find(name).(actor.ActorRef[M]) }
}

func refTo[M any](made any) any {
	var ref actor.ActorRef[M]
	actorhook.SetRef(&ref, made)
	return ref
}

// SendTo sends msg to the routed ref with the path of to on another node, which gets the number of
// to as the from of [Router.Arrived]. It does not wait: without room msg is a dead letter.
func SendTo(s *actor.System, to Target, msg any, m Metadata) { of(s).SendTo(to, msg, m) }

// AddTree says which refs have paths below "/name/": find gets the rest of such a path, and returns
// nil if there is no such ref. The error, which may be nil, then says why: dead letters have it
// together with [actor.ErrNoSuchActor]. Messages of other nodes, and refs that are decoded, are
// looked up by it. Of several trees of one name, the last one counts.
func AddTree(s *actor.System, name string, find func(path string) (actor.AnyRef, error)) {
	of(s).AddTree(name, find, nil)
}

// An Owner gets the messages that an actor of a [Returning] has not handled. Its methods are called
// by any goroutine, and must not block.
type Owner interface {
	// Begun is called inside an actor each time that it has started, before it handles a message.
	// With an error, the actor ends, and that is its failure.
	Begun(name string) error
	// Ended is called once for each actor, when it has ended. rest are the messages that it has not
	// handled, in order, and with their metadata. failure is nil if it has stopped.
	Ended(name string, rest []any, with []Metadata, failure error)
	// Late gets a message that somebody has told the ref of an actor that has ended.
	Late(name string, msg any, m Metadata)
}

// A Returning spawns actors whose messages are not lost when they end, see [SpawnReturning]. Its
// methods take only refs that this has returned, and may be called from any goroutine.
type Returning interface {
	actor.SpawnOption
	// Parent returns the actor whose children they are.
	Parent() actor.Spawner
	// Offer tells such an actor a message, without waiting. It returns false if the actor takes no
	// more messages; the message is then with the caller.
	Offer(to actor.AnyRef, msg any, m Metadata) (taken bool)
	// Used returns the round in which such an actor was spawned, has started or began to handle
	// messages, whichever was last, and whether it has handled any.
	Used(of actor.AnyRef) (round uint32, worked bool)
	// Starting reports whether such an actor has not finished its start, or starts again after a
	// failure. An event-sourced actor recovers meanwhile.
	Starting(of actor.AnyRef) bool
	// Resting reports whether such an actor takes no more messages.
	Resting(of actor.AnyRef) bool
	// Rest lets such an actor end, unless it starts, has a message in its mailbox or a stash, waits
	// for the reply to an AskToSelf, or has children. It may end later, or not at all.
	Rest(of actor.AnyRef)
	// Finish lets such an actor end when it has handled what it has.
	Finish(of actor.AnyRef)
	// Abandon gives up an actor whose handler does not return: its Owner gets what waits for it,
	// and its name is free, as if it had ended by the failure why. When the handler returns, the
	// actor ends without another message. Abandon returns false if the actor has ended.
	Abandon(of actor.AnyRef, why error) bool
	// Ending reports whether the parent is stopping, and thus stops its children, or has ended.
	Ending() bool
}

// NewReturning returns what spawns children of parent, an actor of this node, with the same
// options. An actor that ends by Rest or Finish takes no more messages from then on. It gets last
// as the last one, and must stop in response; if last is nil, it is stopped. All actors of a
// Returning have the same type of messages, and last is one of them.
//
// The caller begins a round whenever it needs to tell older uses from newer ones. See [Rounds].
func NewReturning(parent actor.AnyRef, by Owner, last any, rounds *Rounds, opts ...actor.SpawnOption) Returning {
	return actorhook.Internals(parent).(interface { // actor implements it
		Returning(owner interface {
			Begun(name string) error
			Ended(name string, rest []any, with []metadata.Metadata, failure error)
			Late(name string, msg any, m metadata.Metadata)
		}, last any, rounds *atomic.Uint32, opts []actor.SpawnOption) any
	}).Returning(by, last, &rounds.n, opts).(Returning) // likewise
}

// SpawnReturning spawns a child of the parent of r. Any goroutine may call it. The name may be the
// name of a child that has not completely ended. SpawnReturning returns the zero ActorRef if the
// parent is stopping or has ended.
func SpawnReturning[M any](r Returning, b actor.Behavior[M], name string) actor.ActorRef[M] {
	return actor.Spawn(r.Parent(), b, name, r)
}

// Rounds are the logical clock by which a [Returning] notes when its actors were used. Its methods
// may be called from any goroutine.
type Rounds struct{ n atomic.Uint32 }

// Begin begins the next round, and returns its number.
func (r *Rounds) Begin() uint32 { return r.n.Add(1) }

// Since returns how many rounds have begun between two: fewer than 0 if the first is the later one.
// It counts modulo 2^23, of which an actor keeps no more.
func Since(round, now uint32) int32 { return int32((now-round)<<9) >> 9 }

// PutBack returns messages that an actor has taken and not handled to its [Owner], before those in
// the mailbox. It reports false, and does nothing, unless a [Returning] has spawned the actor and
// ends it, or its parent does. ctx is the Context of the actor. Only functions given to its Defer
// may call PutBack.
func PutBack(ctx context.Context, msgs []Described[any]) bool {
	all, with := make([]any, len(msgs)), make([]metadata.Metadata, len(msgs))
	for i, d := range msgs {
		all[i], with[i] = d.Message, d.Metadata
	}
	return actorhook.Internals(ctx).(interface { // actor implements it
		PutBack(msgs []any, with []metadata.Metadata) bool
	}).PutBack(all, with)
}

// Awaits counts n more things for which an actor waits, or -n fewer. As long as there are any,
// [Returning.Rest] does not end the actor: it is not idle. A restart does not begin again at 0. For
// actors that no Returning has spawned it does nothing. Only handlers of the actor, and functions
// that they defer, may call it.
func Awaits[M any](ctx *actor.Context[M], n int) {
	actorhook.Internals(ctx).(interface { // actor implements it
		Awaits(n int)
	}).Awaits(n)
}
