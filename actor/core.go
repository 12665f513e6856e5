package actor

import (
	"sync"
	"sync/atomic"
)

// A core is the untyped part of everything that a ref can point to: an actor, an ask, an adapter, or
// an actor on another node.
type core struct {
	impl      receiver
	ended     atomic.Bool // its context is done
	outside   bool        // it is not in the tree: an ask, or an adapter
	phase     phase       // of a cell; owned by the turn
	sys       *System
	parent    *core                // nil for roots and for what is not in the tree
	label     string               // see name; of what has no parent it is the path
	life      atomic.Pointer[life] // nil for what nobody has looked at
	uid       uint64               // 0 means whoever lives at the path
	place     uint32               // among its siblings; guarded by the mutex of the parent
	stashCap  int32                // how many may wait while it is suspended; 0 means all; guarded by mu, as all below and the queues of a cell
	relations *relations           // nil: there never was any

	// What each message to a cell changes comes last, and its queue after it: it is apart from
	// what a turn only reads, as two processors do not share a line of their caches well.
	mu        sync.Mutex
	unborn    bool // its first behavior has not run
	closed    bool // takes no more children
	dead      bool // takes no more messages
	over      bool // its watchers have been told
	scheduled bool // it is a cell that is ready, or inside a turn
	suspended bool // a restart of the cell is under way: messages wait
	plain     bool // a message to the cell needs no look at the bound, the gate, the bypass and the stash
	bypassed  bool // messages go to the bypass of the extras of the cell
}

// A receiver is the part of a core that knows the type of messages.
type receiver interface {
	deliver(msg any, by entrance) // a message whose type must still be checked
}

// actor returns the core of the actor that c stands for: the owner of an adapter, and for an empty
// ref the actor that lives at its path now.
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

func (c *core) terminated() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dead || c.over // an ask is only over
}

const (
	// backoffRounds is how often a mutex is tried for, with pauses in between, until it is
	// waited for.
	backoffRounds = 3
	// backoffSteps makes about a third of a microsecond, the first pause; each is twice the
	// one before.
	backoffSteps = 500
)

// lockWithBackoff locks mu, which another goroutine has just held. Senders on several processors are
// fastest in bursts, in which the data of the mailbox stays in the cache of one processor. A sender
// that fails to lock therefore pauses (exponential backoff, as in T. E. Anderson, The performance of
// spin lock alternatives, 1990), and finally waits in the queue of the mutex.
func (c *core) lockWithBackoff() {
	for round := range backoffRounds {
		for range backoffSteps << round { // nothing that others write is looked at
		}
		if c.mu.TryLock() {
			return
		}
	}
	c.mu.Lock()
}
