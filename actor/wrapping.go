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

func (n *next) around() []wrapper {
	if own := n.wrapping(); own != nil {
		return own.around
	}
	return n.cell.wrapping.list()
}

// Its functions are for the actor's type of messages, and may be nil, or it is an observer.
type wrapper struct {
	identity any
	message  any // func(MessageHandler[M]) MessageHandler[M]
	signal   any // func(SignalHandler[M]) SignalHandler[M]
	see      func(ref AnyRef, msg any, sig Signal)
	children bool // it sees the children, too
}

func has(around []wrapper, identity any) bool {
	return slices.ContainsFunc(around, func(w wrapper) bool { return w.identity == identity })
}

// A nil wrapping is nothing.
type wrapping struct {
	around []wrapper // the outermost first; replaced, never changed
	base   int
	inside handlers // inside of all
	inner  *inner   // nil without one
}

// by has the identity of the wrapper.
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

func (w *wrapping) setBase() {
	if w != nil {
		w.base = len(w.around)
	}
}

// before are the handlers, if nothing was around them.
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

func (w *wrapping) dismiss() {
	if w.inner != nil && !w.inner.stays() {
		w.inner.leave()
		w.inner = nil
	}
}

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
