package actor

import "fmt"

// A mark is what package extension attaches to a behavior; see extension.Marked.
type mark interface{ Again(living any) error }

func markedAs(b, mark any) any { return b.(interface{ marked(mark any) any }).marked(mark) } // of a Behavior

func (b Behavior[M]) marked(mark any) any { return marked(b, mark) }

// marked returns b with a mark, which the behavior fills in when it is called without a context.
// All behaviors that it returns for one M have the same code, by which markOf knows them. The
// compiler must therefore not copy that code into callers.
//
//go:noinline
func marked[M any](b Behavior[M], mark any) Behavior[M] {
	return func(ctx *Context[M], next *Next[M]) {
		if ctx == nil {
			next.next.transition().mark = mark
			return
		}
		b(ctx, next)
	}
}

// markOf calls no behavior but those that marked has returned.
func markOf[M any](of *common[M], b Behavior[M]) any {
	if codeOf(b) != of.marked {
		return nil
	}
	next := Next[M]{next: next{cell: &cell{inbox: inbox{extras: &noExtras}}}}
	b(nil, &next)
	return next.next.transition().mark
}

func (b *inbox) toldToStop() bool {
	b.core.mu.Lock()
	defer b.core.mu.Unlock()
	// Not system.stop: the actor may have taken the stop, and not have acted on it yet.
	return b.core.closed || b.core.dead || b.due&(1<<toldToStop) != 0
}

func (r refInternals) Mark() any {
	if c := r.c.actor(); c != nil {
		if of, ok := c.impl.(*cell); ok {
			return of.box.mark()
		}
	}
	return nil
}

// living has the name under which a behavior with a mark was to be spawned. again panics unless
// both have a mark and this one agrees.
func again(parent, living *core, by any) *core {
	taken := fmt.Sprintf("actor: the name %q is taken by a living child of %s", living.label, parent.path())
	m, marked := by.(mark)
	of := living.outermost()
	old := of.box.mark()
	if !marked || old == nil || of.toldToStop() {
		panic(taken + "; give it another name, or leave the name empty for a unique one")
	}
	if err := m.Again(old); err != nil {
		panic(fmt.Errorf("%s: %w", taken, err))
	}
	return living
}
