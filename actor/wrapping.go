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
	return n.next.wrap(wrapper{identity: identity, message: message, signal: signal})
}

func (n *next) wrap(w wrapper) (fresh bool) {
	before := n.cell.wrapping.list()
	if n.wrapping() == nil {
		if n.starting {
			n.transition().wrapping = &wrapping{around: slices.Clip(before)}
		} else {
			stay := before[:n.cell.wrapping.ofStart()]
			if has(stay, w.identity) && !w.children {
				return false
			}
			n.transition().wrapping = &wrapping{around: slices.Clip(stay)}
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
func (n *next) around() []wrapper {
	if own := n.wrapping(); own != nil {
		return own.around
	}
	return n.cell.wrapping.list()
}

// A wrapper is one layer around the handlers of an actor: functions for its type of messages, which
// may be nil, or an observer.
type wrapper struct {
	identity any
	message  any                                   // func(MessageHandler[M]) MessageHandler[M]
	signal   any                                   // func(SignalHandler[M]) SignalHandler[M]
	see      func(ref AnyRef, msg any, sig Signal) // of an observer; see Observe
	children bool                                  // it sees the children, too
}

func has(around []wrapper, identity any) bool {
	return slices.ContainsFunc(around, func(w wrapper) bool { return w.identity == identity })
}

// wrapping is everything around the handlers of a cell; nil if there is nothing.
type wrapping struct {
	around []wrapper // the outermost first; replaced, never changed
	base   int       // how many of them the first behavior set
	inside handlers  // inside of all
	inner  *inner    // nil without one
}

// seeChildren lets the wrapper with the identity of by observe children too, if by does.
func (w *wrapping) seeChildren(by wrapper) {
	i := slices.IndexFunc(w.around, func(o wrapper) bool { return o.identity == by.identity })
	if by.children && !w.around[i].children {
		w.around = slices.Clone(w.around)
		w.around[i].children = true
	}
}

func (w *wrapping) list() []wrapper {
	if w == nil {
		return nil
	}
	return w.around
}

func (w *wrapping) ofStart() int {
	if w == nil {
		return 0
	}
	return w.base
}

// setBase declares all current wrappers to be those of the first behavior.
func (w *wrapping) setBase() {
	if w != nil {
		w.base = len(w.around)
	}
}

// after returns what is around the handlers once n and t have set their own. before are the
// handlers, if nothing was around them.
func (w *wrapping) after(n *next, t *transition, set, before handlers) *wrapping {
	after := &wrapping{around: w.list(), base: w.ofStart(), inside: before}
	if t.wrapping != nil {
		after.around = t.wrapping.around
	}
	if w != nil {
		after.inside, after.inner = w.inside, w.inner
	}
	if set.message != nil {
		after.inside.message = set.message
		after.dismiss()
	}
	if set.signal != nil || n.mute {
		after.inside.signal = set.signal
	}
	return after
}

// dismiss ends the inner cell when other handlers than its own have been set.
func (w *wrapping) dismiss() {
	if w.inner != nil && !w.inner.stays() {
		w.inner.leave()
		w.inner = nil
	}
}

// unwrapTo restores the wrappers in around, for a restart.
func (c *cell) unwrapTo(around []wrapper) {
	was := c.wrapping
	if len(around) == 0 && (was == nil || was.inner == nil) {
		if was != nil {
			c.wrapping = nil
		}
		return
	}
	c.own().wrapping = &wrapping{around: around, base: min(was.ofStart(), len(around))}
	if was != nil {
		c.wrapping.inner = was.inner
	}
}
