package behaviors

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/receptionist"
)

// Discoverable goes on as b does, and makes the actor an instance of a service: others find
// it by key. It is registered from its start until it ends, restarts included. It panics,
// inside the actor, when the service is used with another type of messages on this node.
// See package receptionist.
func Discoverable[M any](key receptionist.ServiceKey[M], b actor.Behavior[M]) actor.Behavior[M] {
	return func(ctx *actor.Context[M], next *actor.Next[M]) {
		receptionist.Register(ctx.System(), key, ctx.Self())
		b(ctx, next)
	}
}
