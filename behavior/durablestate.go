package behaviors

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/persistence"
)

// DurableState returns the behavior of an actor of which the latest state is stored, and
// so outlives the actor; unlike [EventSourced], without how it came about. onCommand says
// which value a command leads to, and what is done once it is durable. It panics when it
// cannot work, see [persistence.NewDurableState].
func DurableState[M, S any](id string, j persistence.Journal, initial S,
	onCommand func(ctx *actor.Context[M], state persistence.State[S], msg M) persistence.StateEffect[S],
	opts ...persistence.StateOptions[M, S],
) actor.Behavior[M] {
	return persistence.NewDurableState(id, j, initial, onCommand, opts...)
}
