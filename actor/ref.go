package actor

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// An ActorRef is the address of an actor that takes messages of type M. It is one
// pointer: comparable, fit for map keys, cheap to copy, and safe for use by any
// goroutine. It stays valid when the actor restarts, and travels inside messages to
// other nodes. The zero ActorRef is nobody's.
type ActorRef[M any] struct{ c *core }

// AnyRef is an [ActorRef] of any type, for what does not need the type: watching,
// stopping, printing.
type AnyRef interface {
	// Path returns the full path of the actor, see [ActorRef.Path].
	Path() string
	// String returns the path with the actor's unique number.
	String() string

	target() *core
}

// Tell hands msg to the actor. It never panics, and blocks only where a mailbox does,
// see [Mailbox.Block]. A nil is a message like any other where M is an interface or a pointer,
// on this node and others, whatever it passes through. Messages of one sender to one actor arrive in the order in which they
// were told. What cannot be delivered is
// published as a [DeadLetter], on every running system of the process when the ref is
// the zero ActorRef.
func (r ActorRef[M]) Tell(msg M) {
	if r.c == nil {
		deadLetterToNobody("", msg)
		return
	}
	switch to := r.c.impl.(type) {
	case *cell[M]:
		to.tell(msg)
	case *promise[M]:
		to.replied(msg)
	default:
		_ = r.tellBy(msg, entrance{}) // which reports it
	}
}

// tellBy is Tell by some entrance. It returns why the message cannot be encoded, if so, where
// the system does that for messages within it: then it is a dead letter.
func (r ActorRef[M]) tellBy(msg M, by entrance) (unfit error) {
	switch to := r.c.impl.(type) {
	case *cell[M]:
		copied, err := carried(&to.core, msg)
		if err != nil {
			to.sys.deadLetter(&to.core, msg, err)
			return err
		}
		to.accept(copied, by)
	case *promise[M]:
		to.replied(msg)
	case *adapter[M]:
		copied, err := carried(&to.core, msg)
		if err != nil {
			to.sys.deadLetter(&to.core, msg, err)
			return err
		}
		to.post(copied, by)
	case *remoteActor:
		to.deliver(msg, by)
	default:
		return deliverHere(r.c, msg, by)
	}
	return nil
}

// deliverHere is for what is told to a core of this system.
func deliverHere[M any](c *core, msg M, by entrance) (unfit error) {
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

// tellAsIs is TellNoWait for what does not come from another actor.
func (r ActorRef[M]) tellAsIs(msg M) {
	switch to := r.c.impl.(type) {
	case *cell[M]:
		to.accept(msg, entrance{parked: true})
	case *promise[M]:
		to.tell(msg)
	case *adapter[M]:
		to.post(msg, entrance{parked: true})
	default:
		to.deliver(msg, entrance{parked: true})
	}
}

// TellNoWait is Tell for extensions whose actors tell those of users: it never waits. A mailbox
// that blocks keeps up to 10,000 such messages, and those that come from other nodes, beyond
// its bound, in order, for as long as [Mailbox.Block] says. What is beyond that, or has waited
// for too long, is a dead letter with [ErrMailboxFull].
func (r ActorRef[M]) TellNoWait(msg M) {
	if r.c == nil {
		deadLetterToNobody("", msg)
		return
	}
	_ = r.tellBy(msg, entrance{parked: true}) // which reports it
}

// offer is Tell for an ask, which has to know that the mailbox is full, where that is for the
// teller to know.
func (r ActorRef[M]) offer(msg M, by entrance) (full error) {
	c, here := r.c.impl.(*cell[M])
	if !here || c.conf.box.capacity == 0 || c.conf.box.overflow == dropOldest {
		return r.tellBy(msg, by)
	}
	msg, err := carried(r.c, msg)
	if err != nil {
		r.c.sys.deadLetter(r.c, msg, err)
		return err
	}
	lost, at, reason := c.put(item[M]{msg: msg}, by)
	if reason != nil {
		at.reportUndelivered(lost, reason)
	}
	if errors.Is(reason, ErrMailboxFull) {
		return reason
	}
	return nil
}

// Path returns the full path: "understudy://system/user/name", or
// "understudy://system@host:port/user/name" in a cluster; "" for the zero ActorRef.
func (r ActorRef[M]) Path() string { return r.c.fullPath() }

// String returns the path, "#" and a number that no other actor of the path ever had.
func (r ActorRef[M]) String() string { return r.c.fullString() }

// A core is the untyped part of whatever a ref can point to: actor, ask, adapter, actor
// on another node.
type core struct {
	impl     receiver
	ended    atomic.Bool // its context is done
	outside  bool        // it is not in the tree: an ask, or an adapter
	phase    phase       // of a cell; owned by the turn
	sys      *System
	parent   *core                // nil for roots and for what is not in the tree
	label    string               // see name; of what has no parent it is the path
	life     atomic.Pointer[life] // nil for what nobody has looked at
	uid      uint64               // 0 means whoever lives at the path
	place    uint32               // among its siblings; guarded by the mutex of the parent
	stashCap int32                // how many may wait while it is suspended; 0 means all; guarded by mu, as all below and the queues of a cell
	kin      *kin                 // nil: there never was any

	// What each message to a cell changes comes last, and its queue after it: it is apart from
	// what a turn only reads, as two processors do not share a line of their caches well.
	mu        sync.Mutex
	unborn    bool // its first behavior has not run
	closed    bool // takes no more children
	dead      bool // takes no more messages
	over      bool // its watchers have been told
	scheduled bool // it is a cell that is ready, or inside a turn
	suspended bool // a restart of the cell is under way: messages wait
	plain     bool // a message to the cell needs no look at the bound, the gate, the detour and the stash
	diverted  bool // messages go to the detour of the extras of the cell
}

// A receiver is the part of a core that knows message types.
type receiver interface {
	deliver(msg any, by entrance) // a message whose type must still be checked
}

// actor returns the core of the actor that c stands for: the owner of an adapter, and
// whoever lives by now where nobody was found.
func (c *core) actor() *core {
	if c == nil {
		return nil
	}
	if n, ok := c.impl.(*nobody); ok {
		return n.successor()
	}
	if c.outside && c.parent != nil {
		return c.parent
	}
	return c
}

func (c *core) terminated() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dead || c.over // an ask is only over
}

func (r ActorRef[M]) target() *core { return r.c }
