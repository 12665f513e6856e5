package actor

// Observe calls see(ref, msg, nil) after each message that the actor handles from now on, and
// see(ref, nil, sig) after each signal, inside the actor, also when the handler fails. With
// children it also observes all actors that this one spawns from now on, and their descendants;
// several actors then call see concurrently. Like [Next.Wrap] it sets no behavior, and identity
// identifies the observer.
func (n *Next[M]) Observe(identity any, see func(ref AnyRef, msg any, sig Signal), children bool) (fresh bool) {
	w := wrapper[M]{
		identity: identity,
		message: func(handle MessageHandler[M]) MessageHandler[M] {
			return func(ctx *Context[M], msg M) Behavior[M] {
				defer func() { see(refOf(ctx.cell.core.actor()), msg, nil) }()
				return handle(ctx, msg)
			}
		},
		signal: func(handle SignalHandler[M]) SignalHandler[M] {
			return func(ctx *Context[M], sig Signal) Behavior[M] {
				defer func() { see(refOf(ctx.cell.core.actor()), nil, sig) }()
				return handle(ctx, sig)
			}
		},
	}
	if children {
		w.children = see
	}
	return n.wrap(w)
}

// A spawnObserver is a node that may observe its children.
type spawnObserver interface{ observers() []observer }

type observer struct {
	identity any
	see      func(ref AnyRef, msg any, sig Signal)
}

// observers includes those of the current transition: a behavior may spawn before it is installed.
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

// observed returns b with the observers of the children of parent.
func observed[M any](parent *core, b Behavior[M]) Behavior[M] {
	o, ok := parent.impl.(spawnObserver)
	if !ok {
		return b
	}
	observers := o.observers()
	if len(observers) == 0 {
		return b
	}
	observed := func(ctx *Context[M], n *Next[M]) {
		for _, o := range observers {
			n.Observe(o.identity, o.see, true)
		}
		b(ctx, n)
	}
	if mark := markOf(b); mark != nil {
		return marked(observed, mark)
	}
	return observed
}
