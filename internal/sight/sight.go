// Package sight lets the test kit of event-sourced actors see their states, whatever their
// behaviors are wrapped in.
package sight

import (
	"context"
	"strings"
)

// An Observer sees one event-sourced actor. Its functions are called by the actor.
type Observer struct {
	// Path is that of the actor within its system: "/user/name". What it spawns has its context, too, and is not observed.
	Path string

	// Changed is told the state of the actor of a persistence id when it has been restored,
	// and when events have been stored.
	Changed func(id string, state any)

	// Ready is told that recovery is over, and all that was done in answer to it.
	Ready func()
}

type key struct{}

// With returns a context under which o sees the actor of its path.
func With(ctx context.Context, o *Observer) context.Context {
	return context.WithValue(ctx, key{}, o)
}

// Of returns who observes the actor of path, whose context ctx is, or nil.
func Of(ctx context.Context, path string) *Observer {
	if o, ok := ctx.Value(key{}).(*Observer); ok && strings.HasSuffix(path, o.Path) {
		return o
	}
	return nil
}
