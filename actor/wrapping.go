package actor

import "slices"

// Wrap puts a wrapper around the handlers that this behavior and all later ones set. message
// returns the message handler that is called instead of its argument, signal likewise for signals;
// nil leaves a handler as it is. The caller then continues with
//
//	b(ctx, next)
//
// for the behavior b inside the wrapper; wrappers that b adds are inside, too.
//
// identity, which must be comparable, identifies the wrapper: one that is already there is not
// added again, and fresh is false. Wrappers remain when the behavior changes. Those that a
// handler's behavior adds replace those that earlier handlers added; they do not accumulate. A
// restart removes the wrappers inside the supervision, which its behavior then adds again, and
// keeps the others.
//
// Extensions use it; package behaviors has the wrappers for users.
func (n *Next[M]) Wrap(identity any, message func(MessageHandler[M]) MessageHandler[M], signal func(SignalHandler[M]) SignalHandler[M]) (fresh bool) {
	return n.wrap(wrapper[M]{identity: identity, message: message, signal: signal})
}

func (n *Next[M]) wrap(w wrapper[M]) (fresh bool) {
	before := n.cell.wrapping.list()
	if n.wrapping() == nil {
		if n.starting {
			n.toRest().wrapping = &wrapping[M]{around: slices.Clip(before)}
		} else {
			stay := before[:n.cell.wrapping.ofStart()]
			if has(stay, w.identity) && w.children == nil {
				return false
			}
			n.toRest().wrapping = &wrapping[M]{around: slices.Clip(stay)}
		}
	}
	own := n.wrapping()
	if has(own.around, w.identity) {
		own.seeChildren(w)
		return false
	}
	own.around = append(own.around, w)
	return !has(before, w.identity)
}

// around returns the wrappers around the handlers that n sets.
func (n *Next[M]) around() []wrapper[M] {
	if own := n.wrapping(); own != nil {
		return own.around
	}
	return n.cell.wrapping.list()
}

// A wrapper is one layer around the handlers of an actor.
type wrapper[M any] struct {
	identity any
	message  func(MessageHandler[M]) MessageHandler[M]
	signal   func(SignalHandler[M]) SignalHandler[M]
	children func(child AnyRef, msg any, sig Signal) // what sees the children, too; see Observe
}

func has[M any](around []wrapper[M], identity any) bool {
	return slices.ContainsFunc(around, func(w wrapper[M]) bool { return w.identity == identity })
}

// wrapping is everything around the handlers of a cell; nil if there is nothing.
type wrapping[M any] struct {
	around  []wrapper[M]      // the outermost first; replaced, never changed
	base    int               // how many of them the first behavior set
	message MessageHandler[M] // inside of all
	signal  SignalHandler[M]  // inside of all; nil for a behavior without one
	inner   innerCell         // nil without one
}

// seeChildren lets the wrapper with the identity of by observe children too, if by does.
func (w *wrapping[M]) seeChildren(by wrapper[M]) {
	i := slices.IndexFunc(w.around, func(o wrapper[M]) bool { return o.identity == by.identity })
	if by.children != nil && w.around[i].children == nil {
		w.around = slices.Clone(w.around)
		w.around[i].children = by.children
	}
}

func (w *wrapping[M]) list() []wrapper[M] {
	if w == nil {
		return nil
	}
	return w.around
}

func (w *wrapping[M]) ofStart() int {
	if w == nil {
		return 0
	}
	return w.base
}

// setBase declares all current wrappers to be those of the first behavior.
func (w *wrapping[M]) setBase() {
	if w != nil {
		w.base = len(w.around)
	}
}

// after returns what is around the handlers once n has set its own. message and signal are the
// handlers before it, if nothing was around them.
func (w *wrapping[M]) after(n *Next[M], message MessageHandler[M], signal SignalHandler[M]) *wrapping[M] {
	next := &wrapping[M]{around: n.around(), base: w.ofStart(), message: message, signal: signal}
	if w != nil {
		next.message, next.signal, next.inner = w.message, w.signal, w.inner
	}
	if n.OnMessage != nil {
		next.message = n.OnMessage
		next.dismiss()
	}
	if n.OnSignal != nil || n.mute {
		next.signal = n.OnSignal
	}
	return next
}

// dismiss ends the inner cell when other handlers than its own have been set.
func (w *wrapping[M]) dismiss() {
	if w.inner != nil && !w.inner.stays() {
		w.inner.leave()
		w.inner = nil
	}
}

func (w *wrapping[M]) compose() (MessageHandler[M], SignalHandler[M]) {
	message, signal := w.message, w.signal
	if signal == nil {
		signal = func(_ *Context[M], sig Signal) Behavior[M] { return ignoreSignal[M](sig) }
	}
	for _, layer := range slices.Backward(w.around) {
		if layer.message != nil {
			message = layer.message(message)
		}
		if layer.signal != nil {
			signal = layer.signal(signal)
		}
	}
	return message, signal
}

// unwrapTo restores the wrappers in around, for a restart.
func (c *cell[M]) unwrapTo(around []wrapper[M]) {
	was := c.wrapping
	if len(around) == 0 && (was == nil || was.inner == nil) {
		if was != nil {
			c.wrapping = nil
		}
		return
	}
	c.own().wrapping = &wrapping[M]{around: around, base: min(was.ofStart(), len(around))}
	if was != nil {
		c.wrapping.inner = was.inner
	}
}
