package actor

import (
	"fmt"
	"time"

	"github.com/understudy-go/understudy/internal/metadata"
)

// An ActorRef is the address of an actor that takes messages of type M. It is one pointer:
// comparable, usable as a map key, cheap to copy, and safe for concurrent use. Refs to one actor
// are equal, but a ref to the reply of an [Ask] that comes twice from another node gives two that
// are not. A ref remains valid when the actor restarts, and travels inside messages to other nodes.
// The zero ActorRef addresses no actor; messages sent to it are dead letters.
type ActorRef[M any] struct{ c *core }

// AnyRef is an [ActorRef] of any message type, for operations that do not need the type: watching,
// stopping, printing.
type AnyRef interface {
	// Path returns the full path of the actor, see [ActorRef.Path].
	Path() string
	// String returns the path followed by the unique number of the actor.
	String() string

	target() *core
}

// Tell sends msg to the actor. It never panics, and it blocks only if the mailbox does, see
// [Mailbox.Block], or while the queue for the node of the actor is full and that node still takes
// messages. Then it waits in any goroutine, inside an actor or not. Where it must not, use
// [ActorRef.TellNoWait]; to end the wait by a context, use [Ask]. A nil is an ordinary message if M
// is an interface or a pointer. Messages from one sender to one actor arrive in the order in which
// they were sent. Between messages to the actor itself, to its adapters and to the refs of replies
// to its asks, there is no order. A message that cannot be delivered is published as a
// [DeadLetter]; for the zero ActorRef, on every running system of the process.
func (r ActorRef[M]) Tell(msg M) {
	if r.c == nil {
		deadLetterOfNoSystem("", msg)
		return
	}
	if q, ok := r.c.queue.(*queue[M]); ok {
		switch {
		case r.c.flags.has(bypassed):
			if !tellChild(r.c, msg, nil) {
				q.of.put(r.c, msg)
			}
		case !tryPut(r.c, q, msg, nil, false):
			q.of.put(r.c, msg)
		}
		return
	}
	switch to := r.c.impl.(type) {
	case *promise[M]:
		to.replied(msg)
	case *routed:
		if !tellHere(to, msg, nil) {
			to.route(msg, metadata.Metadata{})
		}
	default:
		_ = tellAny(r.c, msg, entrance{}) // which reports it
	}
}

// If the system encodes messages between its own actors and msg cannot be encoded, msg is a dead
// letter, and unfit says why. For an ask, unfit may also be an ErrMailboxFull.
func tellBy[M any](c *core, msg M, by entrance) (unfit error) {
	if q, ok := c.queue.(*queue[M]); ok {
		switch r := by.metadata.Request(); {
		case by.metadata.HasValues():
		case c.flags.has(bypassed):
			if tellChild(c, msg, r) {
				return nil
			}
		case tryPut(c, q, msg, r, false):
			return nil
		}
		return q.of.putBy(c, msg, by)
	}
	switch to := c.impl.(type) {
	case *promise[M]:
		to.replied(msg)
		return nil
	case *routed:
		if !by.metadata.HasValues() && tellHere(to, msg, by.metadata.Request()) {
			return nil
		}
	}
	return tellAny(c, msg, by)
}

func tellAny(c *core, msg any, by entrance) (unfit error) {
	switch to := c.impl.(type) {
	case *remoteActor:
		to.deliver(msg, by)
		return nil
	case *routed:
		to.deliver(msg, by) // without a copy, which the router makes
		return nil
	}
	return deliverHere(c, msg, by)
}

// c is no cell.
func deliverHere(c *core, msg any, by entrance) (unfit error) {
	copied, err := carried(c, msg)
	if err == nil {
		c.impl.deliver(copied, by)
		return nil
	}
	if a, ok := c.impl.(interface{ settle(err error) }); ok {
		a.settle(fmt.Errorf("ask: the reply: %w", err))
	}
	c.sys.deadLetter(c, msg, err)
	return err
}

// TellNoWait is like Tell but never waits. Use it in an actor that its recipients must not hold up.
// If the queue for another node is full, the message is a dead letter with [ErrUnreachable]. A
// blocking mailbox keeps up to 10,000 such messages, and messages from other nodes, beyond its
// bound, in order, for as long as [Mailbox.Block] says. Further ones, and those that have waited
// for too long, are dead letters with [ErrMailboxFull].
func (r ActorRef[M]) TellNoWait(msg M) {
	if r.c == nil {
		deadLetterOfNoSystem("", msg)
		return
	}
	_ = tellBy(r.c, msg, entrance{parked: true}) // which reports it
}

// Path returns the full path: "understudy://system/user/name", or
// "understudy://system@host:port/user/name" if the system has an address. It is "" for the zero
// ActorRef.
func (r ActorRef[M]) Path() string { return r.c.fullPath() }

// String returns the path, "#", and a number that no other actor of that path has ever had.
func (r ActorRef[M]) String() string { return r.c.fullString() }

func (r ActorRef[M]) target() *core { return r.c }

// TellAfter sends msg to the actor after d, even if the caller has ended by then. msg is a dead
// letter if the actor has ended. It may be called from any goroutine. cancel prevents the sending;
// it returns false if it was too late, or called before. An actor that sends to itself uses
// [Context.After].
func (r ActorRef[M]) TellAfter(d time.Duration, msg M) (cancel func() bool) {
	return time.AfterFunc(d, func() { r.Tell(msg) }).Stop
}

// A core is what a ref points to: an actor, an ask, an adapter, or an actor on another node.
type core struct {
	impl     receiver
	queue    any // *queue[M] of an actor of this node with messages of type M; else nil. Never changes
	flags    flags
	outside  bool  // it is not in the tree: an ask, an adapter or an inner cell
	phase    phase // of a cell; owned by the turn
	stride   uint8 // of a cell: see turnClock; owned by the turn
	inTask   bool  // what the cell handles is no plain message; likewise
	sys      *System
	parent   *core  // nil for roots and for what is not in the tree
	label    string // see name; the path of a core without a parent
	uid      uint64 // 0 addresses whichever actor lives at the path
	place    uint32 // among its siblings; guarded by the mutex of the parent
	stashCap int32  // how many messages may wait while it is suspended; 0 means no bound; guarded by mu
	owner    owner  // of a cell
	guarded
}

// A receiver takes the messages for a core.
type receiver interface {
	deliver(msg any, by entrance) // checks the type of msg
}

// ofCell reports whether c is an actor of this node, in the tree.
func (c *core) ofCell() bool { return c.queue != nil }

// The owner of an adapter acts for it; for an empty ref it is the actor that lives at its path now.
func (c *core) actor() *core {
	if c == nil {
		return nil
	}
	if n, ok := c.impl.(*emptyRef); ok {
		return n.successor()
	}
	if c.outside && c.parent != nil {
		return c.parent
	}
	return c
}

func (c *core) outermost() *cell { return c.actor().impl.(*cell) }

func (c *core) deferred() *cleanups { return &c.outermost().own().cleanups }

// ending is true as well once the incarnation has ended.
func (c *core) ending() bool { return c.actor().phase >= restarting }
