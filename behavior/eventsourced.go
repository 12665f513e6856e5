package behaviors

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
)

// EventSourced returns the behavior of an actor whose state is what its events have made
// of it, and so outlives the actor. onCommand says which events a command leads to, and
// what is done once they are durable; onEvent returns what an event makes of a state. It
// panics when it cannot work, see [persistence.New]; package persistence is the manual.
func EventSourced[M, E, S any](id string, j persistence.Journal, initial S,
	onEvent func(state S, event E) S,
	onCommand func(ctx *actor.Context[M], state S, msg M) persistence.Effect[E],
	opts ...persistence.Options[M, E, S],
) actor.Behavior[M] {
	return persistence.New(id, j, initial, onEvent, onCommand, opts...)
}
