package actor

// A core is the untyped part of everything that a ref can point to: an actor, an ask, an adapter,
// or an actor on another node.
type core struct {
	impl     receiver
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
	port     *port  // of a cell in the tree, and of a routed ref; else nil
	guarded
}

// A port is how messages of one type get into the cores of one kind, with functions for that type.
// So a ref need not know any kind of core: each that a ref knows is compiled for each type that has
// refs, and most types are only replies.
type port struct {
	tell   any  // func(c *core, msg M)
	tellBy any  // func(c *core, msg M, by entrance) (unfit error); see tellBy
	take   any  // func(c *core, msg M, m metadata.Metadata, done func(error)), of cells; see Deliver
	cell   bool // its cores are cells
}

// inletOf returns the port for messages of Deliver, or nil: an inner cell has none for others.
func inletOf(c *core) *port {
	if inner, ok := c.impl.(interface{ inlet() *port }); ok {
		return inner.inlet()
	}
	return c.port
}

// ofCell reports whether p, which may be nil, is the port of an actor of this node.
func (p *port) ofCell() bool { return p != nil && p.cell }

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
