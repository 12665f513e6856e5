package actor

import (
	"sync"
	"sync/atomic"
)

// A core is the untyped part of everything that a ref can point to: an actor, an ask, an adapter,
// or an actor on another node.
type core struct {
	impl      receiver
	ended     atomic.Bool // its context is done
	outside   bool        // it is not in the tree: an ask, an adapter or an inner cell
	phase     phase       // of a cell; owned by the turn
	sys       *System
	parent    *core                // nil for roots and for what is not in the tree
	label     string               // see name; the path of a core without a parent
	life      atomic.Pointer[life] // nil until it is needed
	uid       uint64               // 0 addresses whichever actor lives at the path
	place     uint32               // among its siblings; guarded by the mutex of the parent
	stashCap  int32                // how many messages may wait while it is suspended; 0 means no bound; guarded by mu, as all below and the queues of a cell
	relations *relations           // nil until there are some

	// Fields that each message changes come last, followed by the queue of the cell: apart from
	// fields that a turn only reads, because processors should not share these cache lines.
	mu        sync.Mutex
	unborn    bool // its first behavior has not run
	closed    bool // takes no more children
	dead      bool // takes no more messages
	over      bool // its watchers have been told
	scheduled bool // it is a cell that is ready, or inside a turn
	suspended bool // a restart of the cell is under way: messages wait
	plain     bool // messages need no check of bound, admission, bypass and stash
	bypassed  bool // messages go to extras.bypass
}

// A receiver is the part of a core that knows the type of messages.
type receiver interface {
	deliver(msg any, by entrance) // checks the type of msg
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
	return c.dead || c.over // an ask is over, but not dead
}

const (
	// backoffRounds is how often a mutex is tried for, with pauses in between, until it is
	// waited for.
	backoffRounds = 3
	// backoffSteps makes about a third of a microsecond, the first pause; each is twice the
	// one before.
	backoffSteps = 500
)

// lockWithBackoff locks mu, which another goroutine has just held. Senders on several processors
// are fastest in bursts, in which the data of the mailbox stays in the cache of one processor. A
// sender that fails to lock therefore pauses (exponential backoff, as in T. E. Anderson, The
// performance of spin lock alternatives, 1990), and finally waits in the queue of the mutex.
func (c *core) lockWithBackoff() {
	for round := range backoffRounds {
		for range backoffSteps << round { // reads nothing that others write
		}
		if c.mu.TryLock() {
			return
		}
	}
	c.mu.Lock()
}
