package extension

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/actorhook"
)

// A Transport carries messages to actors on other nodes; internal/transport has one. It may have
// further methods:
//
//	Watch(s *actor.System, target Target, ended func()) (stop func())
//
// watches an actor: it calls ended once, from any goroutine, when the actor is known to have ended
// or not to exist, or its node to be gone, and not after stop has been called. Neither blocks.
// Without it [actor.Context.Watch] panics for actors on other nodes.
//
//	MaxMessage() int
//	CheckSize(of string, bytes int) error
//
// implement the functions of these names.
//
//	FirstUID() uint64
//
// returns the number from which the unique numbers of actors count, unless it is 0. No process that
// used the same address before may have used higher ones.
//
//	SendWaiting(p Patience, s *actor.System, target Target, msg any)
//
// is Send for a sender that may wait: a [actor.ActorRef.Tell] to an actor below /user. While its
// queue for the node is full, the transport may wait for room, as long as p allows.
//
//	SendWith(m Metadata, p *Patience, s *actor.System, target Target, msg any)
//
// is Send for a message of [TellWith], and SendWaiting if p is not nil. Without it, messages arrive
// without their metadata.
type Transport interface {
	// Send takes over msg for the actor at target, on behalf of s. It encodes msg before it
	// returns, and never blocks. What cannot be sent it passes to [DeadLetter].
	Send(s *actor.System, target Target, msg any)
}

// A Target is the address of an actor on another node. Address is the "host:port" of its node. Path
// is its path within the system, such as "/user/name". UID is its unique number; 0 means whichever
// actor lives at Path. Full is its full path, for log entries and dead letters.
type Target = actorhook.Target

// A Patience ends a wait for room when Done or Hurried is closed, or, unless it is 0, after Within.
// Either channel may be nil.
type Patience = actorhook.Patience

// WithTransport connects the system to other nodes: address, a "host:port", becomes part of the
// paths of its actors, and t carries messages to actors at other addresses.
func WithTransport(address string, t Transport) actor.Option {
	return func(s *actor.System) { of(s).SetTransport(address, t) }
}

// Dispatch delivers msg, which came from another node, to the actor at path, or only to the one
// with the number uid unless that is 0. A message that cannot be delivered is a dead letter.
//
// Dispatch does not wait for a place in a blocking mailbox. Such a mailbox keeps up to 10,000
// messages from other nodes, or 16 MiB, beyond its bound, for as long as [actor.Mailbox.Block]
// says; further ones, and those that have waited for too long, are dead letters with
// [actor.ErrMailboxFull].
func Dispatch(s *actor.System, path string, uid uint64, msg any) {
	of(s).DispatchAll(path, uid, []any{msg}, nil)
}

// DispatchAll is like [Dispatch], for many messages in order: it is faster than one call for each,
// and wakes the actor once. sizes are the encoded sizes in bytes; nil if unknown. It retains
// neither slice.
func DispatchAll(s *actor.System, path string, uid uint64, msgs []any, sizes []int) {
	of(s).DispatchAll(path, uid, msgs, sizes)
}

// OnEnd calls ended once, when the actor at path has ended, or before OnEnd returns if no actor
// lives there. If uid is not 0, only the actor with that number counts. A transport uses it when
// another node watches an actor of this system. ended is called by the goroutine in which the actor
// ends, after everything that the actor has told, and must not block. It may still be running when
// stop returns.
func OnEnd(s *actor.System, path string, uid uint64, ended func()) (stop func()) {
	return of(s).OnEnd(path, uid, ended)
}

// EndAsks ends the pending asks of actors at address that which selects, with
// [actor.ErrUnreachable]. It is called with the unique numbers of the asked actor, 0 for a path
// without one, and of the ask. Transports that know the members of a cluster call EndAsks when a
// node is gone. It does not affect later asks.
func EndAsks(s *actor.System, address string, which func(uid, ask uint64) bool) {
	of(s).EndAsks(address, which)
}

// NextNumber draws a unique number of the system: asks that have begun have smaller ones, and asks
// that begin later have larger ones.
func NextNumber(s *actor.System) uint64 { return of(s).NextNumber() }

// NodeGone declares that actors at address have ended for good: those for whose unique number gone
// returns true. Later asks of them end immediately with [actor.ErrUnreachable], and the requests
// are dead letters. This lasts until [NodeBack] or the next NodeGone for the address. gone is
// called from any goroutine and must not block.
func NodeGone(s *actor.System, address string, gone func(uid uint64) bool) {
	of(s).NodeGone(address, gone)
}

// NodeBack revokes [NodeGone] for address.
func NodeBack(s *actor.System, address string) { of(s).NodeBack(address) }

// Sent returns how many messages refs of this system have sent to actors on other nodes so far,
// delivered or not.
func Sent(s *actor.System) uint64 { return of(s).Sent() }

// MaxMessage returns the largest size in bytes, headers included, of a message to another node; 0
// if there is no other node, or no limit is known.
func MaxMessage(s *actor.System) int { return of(s).MaxMessage() }

// CheckSize returns why a message of that many bytes, headers included, cannot be sent to another
// node; nil if it can, or no limit is known. what names the message in the error text. Extensions
// that send a message of the user repeatedly until it arrives use it.
func CheckSize(s *actor.System, what string, bytes int) error { return of(s).CheckSize(what, bytes) }
