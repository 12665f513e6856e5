// Package fence is what event sourcing and singletons share without knowing each other:
// the mark of an instance whose writes are fenced, and the error of one that has been
// fenced off.
package fence

import (
	"context"
	"errors"
)

// ErrFenced is the error of a writer that a newer one has replaced.
var ErrFenced = errors.New("persistence: fenced by a newer claim")

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
