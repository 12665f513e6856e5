// Package fence is what event sourcing and singletons share without knowing each other:
// the mark of an instance whose writes are fenced, and the error of one that has been
// fenced off.
package fence

import "context"

// ErrFenced is the error of a writer that a newer one has replaced. It is final, see
// actor.Strategy: a restart in place would only fence the newer one in turn.
var ErrFenced error = final("persistence: fenced by a newer claim")

type final string

func (e final) Error() string { return string(e) }

// Final says that no supervision is to restart or resume an actor with this failure.
func (e final) Final() bool { return true }

type key struct{}

// With returns a context in which [Mark] calls held.
func With(ctx context.Context, held func()) context.Context {
	return context.WithValue(ctx, key{}, held)
}

// Mark says that what runs under ctx writes to the outside only where a newer instance
// fences it off. Without anybody to tell, nothing happens.
func Mark(ctx context.Context) {
	if held, ok := ctx.Value(key{}).(func()); ok {
		held()
	}
}
