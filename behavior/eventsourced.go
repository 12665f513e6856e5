package behaviors

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
)

// EventSourced returns the behavior of an actor whose state is rebuilt from the events stored under
// id in j. onCommand handles a message and returns the effect. The effect has the events to
// persist, and what to do once they are durable. onEvent applies one event to the state; it must be
// pure.
//
// EventSourced panics on invalid arguments, see [persistence.New]. Package persistence has the
// manual.
func EventSourced[M, E, S any](id string, j persistence.Journal, initial S,
	onEvent func(state S, event E) S,
	onCommand func(ctx *actor.Context[M], state S, msg M) persistence.Effect[E],
	opts ...persistence.Option,
) actor.Behavior[M] {
	return persistence.New(id, j, initial, onEvent, onCommand, opts...)
}
