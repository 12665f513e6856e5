package actor

// Observe calls see after each message and each signal that the actor handles from now
// on, with its ref and what it was, of which the
// other is nil; inside the actor, also when the handler fails. With
// children it sees what all actors handle that this one spawns from now on, and those that
// they spawn; then it is called by several actors at once. Like [Next.Wrap] it does not
// go on with a behavior, and like there identity says what is the same.
func (n *Next[M]) Observe(identity any, see func(ref AnyRef, msg any, sig Signal), children bool) (fresh bool) {
	w := wrapper[M]{
		identity: identity,
		message: func(handle MessageHandler[M]) MessageHandler[M] {
			return func(ctx *Context[M], msg M) Behavior[M] {
				defer func() { see(refOf(ctx.cell.actor()), msg, nil) }()
				return handle(ctx, msg)
			}
		},
		signal: func(handle SignalHandler[M]) SignalHandler[M] {
			return func(ctx *Context[M], sig Signal) Behavior[M] {
				defer func() { see(refOf(ctx.cell.actor()), nil, sig) }()
				return handle(ctx, sig)
			}
		},
	}
	if children {
		w.children = see
	}
	return n.wrap(w)
}

// An spawnObserver is a node that may want to see what its children handle.
type spawnObserver interface{ observers() []observer }

type observer struct {
	identity any
	see      func(ref AnyRef, msg any, sig Signal)
}

// observers looks at the transition that is under way, too: a behavior may spawn before
// it is installed.
func (c *cell[M]) observers() (all []observer) {
	around := c.wrapping.list()
	if w := c.scratch.wrapping(); w != nil {
		around = w.around
	}
	for _, w := range around {
		if w.children != nil {
			all = append(all, observer{w.identity, w.children})
		}
	}
	if w := c.wrapping; w != nil && w.inner != nil {
		all = append(all, w.inner.observers()...)
	}
	return all
}

// observed returns b, seen by who wants to see the children of parent.
func observed[M any](parent *core, b Behavior[M]) Behavior[M] {
	o, ok := parent.impl.(spawnObserver)
	if !ok {
		return b
	}
	observers := o.observers()
	if len(observers) == 0 {
		return b
	}
	return func(ctx *Context[M], n *Next[M]) {
		for _, o := range observers {
			n.Observe(o.identity, o.see, true)
		}
		b(ctx, n)
	}
}
