package actor

// Observe calls see(ref, msg, nil) after each message that the actor handles from now on, and
// see(ref, nil, sig) after each signal, inside the actor, also when the handler fails. With
// children it also observes all actors that this one spawns from now on, and their descendants;
// several actors then call see concurrently. Like [Next.Wrap] it sets no behavior, and identity
// identifies the observer.
func (n *Next[M]) Observe(identity any, see func(ref AnyRef, msg any, sig Signal), children bool) (fresh bool) {
	return n.next.wrap(wrapper{identity: identity, see: see, children: children})
}

func observed[M any](x *box[M], see func(ref AnyRef, msg any, sig Signal)) (MessageHandler[M], SignalHandler[M]) {
	self, message, signal := x.cell.core.outermost().box.self(), x.onMessage, x.onSignal
	return func(ctx *Context[M], msg M) Behavior[M] {
			defer see(self, msg, nil)
			return message(ctx, msg)
		}, func(ctx *Context[M], sig Signal) Behavior[M] {
			defer see(self, nil, sig)
			return signal(ctx, sig)
		}
}

// observers includes those of the current transition: a behavior may spawn before it is installed.
func (c *cell) observers() (all []wrapper) {
	around := c.wrapping.list()
	if c.transition != nil && c.transition.wrapping != nil {
		around = c.transition.wrapping.around
	}
	for _, w := range around {
		if w.children {
			all = append(all, w)
		}
	}
	if w := c.wrapping; w != nil && w.inner != nil {
		all = append(all, w.inner.cell.observers()...)
	}
	return all
}

func observe[M any](of *common[M], b Behavior[M], by []wrapper) Behavior[M] {
	if len(by) == 0 {
		return b
	}
	observed := func(ctx *Context[M], n *Next[M]) {
		for _, w := range by {
			n.next.wrap(wrapper{identity: w.identity, see: w.see, children: true})
		}
		b(ctx, n)
	}
	if mark := markOf(of, b); mark != nil {
		return marked(observed, mark)
	}
	return observed
}
