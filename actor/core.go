package actor

import "sync/atomic"

// A core is the untyped part of everything that a ref can point to: an actor, an ask, an adapter,
// or an actor on another node.
type core struct {
	impl     receiver
	flags    flags
	outside  bool  // it is not in the tree: an ask, an adapter or an inner cell
	phase    phase // of a cell; owned by the turn
	inTask   bool  // what the cell handles is no plain message; likewise
	sys      *System
	parent   *core                // nil for roots and for what is not in the tree
	label    string               // see name; the path of a core without a parent
	life     atomic.Pointer[life] // nil until it is needed
	uid      uint64               // 0 addresses whichever actor lives at the path
	place    uint32               // among its siblings; guarded by the mutex of the parent
	stashCap int32                // how many messages may wait while it is suspended; 0 means no bound; guarded by mu
	owner    owner                // of a cell
	guarded
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
