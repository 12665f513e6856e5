package tenure

import (
	"context"
	"strings"

	"github.com/understudy-go/understudy/internal/actorhook"
)

// An Observer observes one event-sourced actor, however its behavior is wrapped.
type Observer struct {
	// Path is the path of the actor within its system: "/user/name". Actors that it spawns are not
	// observed.
	Path string

	// Changed gets the state of the actor with a persistence id when the state has been restored,
	// and when events have been stored.
	Changed func(id string, state any)

	// Handles is called before a function of the user gets the present state with a command or an
	// event, and after is called when it has returned.
	Handles func(handler, state, input any) (after func())

	// Ready is called after recovery and everything that the actor did in response to it.
	Ready func()
}

// WithObserver returns a context in which o takes the place of a [Tenure].
func WithObserver(ctx context.Context, o *Observer) context.Context {
	return context.WithValue(ctx, actorhook.GenerationKey{}, o)
}

// ObserverOf returns the observer of the actor at path with context ctx, or nil.
func ObserverOf(ctx context.Context, path string) *Observer {
	if o, ok := ctx.Value(actorhook.GenerationKey{}).(*Observer); ok && strings.HasSuffix(path, o.Path) {
		return o
	}
	return nil
}
