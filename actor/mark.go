package actor

import (
	"fmt"
	"reflect"
)

// A mark is what package extension attaches to a behavior; see extension.Marked.
type mark interface{ Again(living any) error }

// behaviorInternals is a Behavior as package extension sees it.
type behaviorInternals[M any] Behavior[M]

func (b Behavior[M]) internals() any { return behaviorInternals[M](b) }

// Marked implements extension.Marked.
func (b behaviorInternals[M]) Marked(mark any) Behavior[M] { return marked(Behavior[M](b), mark) }

// marked returns b with a mark, which the behavior fills in when it is called without a context.
// All behaviors that it returns for one M have the same code, by which markOf knows them. The
// compiler must therefore not copy that code into callers.
//
//go:noinline
func marked[M any](b Behavior[M], mark any) Behavior[M] {
	return func(ctx *Context[M], next *Next[M]) {
		if ctx == nil {
			next.toRest().mark = mark
			return
		}
		b(ctx, next)
	}
}

// markOf returns the mark of b, or nil. It calls no behavior but those that marked has returned.
func markOf[M any](b Behavior[M]) any {
	code := func(b Behavior[M]) uintptr { return reflect.ValueOf(b).Pointer() }
	if code(b) != code(marked[M](nil, nil)) {
		return nil
	}
	var next Next[M]
	b(nil, &next)
	return next.rest.mark
}

// markBearer is what a cell tells of its mark.
type markBearer interface {
	mark() any
	toldToStop() bool
}

func (c *cell[M]) mark() any { return markOf(c.initial) }

// toldToStop reports whether the actor is stopping or has been told to.
func (b *inbox[M]) toldToStop() bool {
	b.core.mu.Lock()
	defer b.core.mu.Unlock()
	// Not system.stop: the actor may have taken the stop, and not have acted on it yet.
	return b.core.closed || b.core.dead || b.system.toldToStop
}

// Mark implements extension.MarkOf.
func (r refInternals[M]) Mark() any {
	if c := r.c.actor(); c != nil {
		if bearer, ok := c.impl.(markBearer); ok {
			return bearer.mark()
		}
	}
	return nil
}

// again returns the ref of living, a child of parent that has the name under which b was to be
// spawned. It panics unless both have a mark and the mark of b agrees.
func again[M any](parent, living *core, b Behavior[M]) ActorRef[M] {
	taken := fmt.Sprintf("actor: the name %q is taken by a living child of %s", living.label, parent.path())
	m, marked := markOf(b).(mark)
	old, known := living.impl.(markBearer)
	if !marked || !known || old.mark() == nil || old.toldToStop() {
		panic(taken + "; give it another name, or leave the name empty for a unique one")
	}
	if err := m.Again(old.mark()); err != nil {
		panic(fmt.Errorf("%s: %w", taken, err))
	}
	return ActorRef[M]{living}
}
