// Package entityhook lets the test kit of event-sourced actors see their states, however their
// behaviors are wrapped.
package entityhook

import (
	"context"
	"strings"
)

// An Observer observes one event-sourced actor, which calls its functions.
type Observer struct {
	// Path is the path of the actor within its system: "/user/name". Its children inherit the
	// context and are not observed.
	Path string

	// Changed gets the state of the actor with a persistence id when the state has been restored,
	// and when events have been stored.
	Changed func(id string, state any)

	// Ready is called after recovery and everything that the actor did in response to it.
	Ready func()
}

type key struct{}

// With returns a context by which o observes the actor at its path.
func With(ctx context.Context, o *Observer) context.Context {
	return context.WithValue(ctx, key{}, o)
}

// Of returns the observer of the actor at path with context ctx, or nil.
func Of(ctx context.Context, path string) *Observer {
	if o, ok := ctx.Value(key{}).(*Observer); ok && strings.HasSuffix(path, o.Path) {
		return o
	}
	return nil
}
