package behaviors

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
)

// DurableState returns the behavior of an actor whose latest state is stored under id in j. Unlike
// [EventSourced] it does not store the events that led to the state. onCommand handles a message
// and returns the effect: the new state to store, and what to do once it is durable. DurableState
// panics on invalid arguments, see [persistence.NewDurableState].
func DurableState[M, S any](id string, j persistence.Journal, initial S,
	onCommand func(ctx *actor.Context[M], state persistence.State[S], msg M) persistence.StateEffect[S],
	opts ...persistence.StateOptions[M, S],
) actor.Behavior[M] {
	return persistence.NewDurableState(id, j, initial, onCommand, opts...)
}
