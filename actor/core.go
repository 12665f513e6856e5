package actor

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
