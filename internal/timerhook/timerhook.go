// Package timerhook connects persistent actors, which may end with stored timers, with the code
// that wakes them.
package timerhook

import (
	"context"
	"time"
)

// A Left is called, by any goroutine, when an actor with a persistence id ends and leaves timers.
// The first of them is due then. It must not block.
type Left func(id string, due time.Time)

type key struct{}

// With returns a context whose actors, and their children, call left.
func With(ctx context.Context, left Left) context.Context {
	return context.WithValue(ctx, key{}, left)
}

// Of returns what an actor with context ctx calls, or nil.
func Of(ctx context.Context) Left {
	left, _ := ctx.Value(key{}).(Left)
	return left
}
