package behaviors

import (
	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/receptionist"
)

// Discoverable continues with b and registers the actor as an instance of a service, which other
// actors find by key; see package receptionist. It is registered from its start until it ends,
// restarts included. Discoverable panics inside the actor if this node uses the same service with
// another message type.
func Discoverable[M any](key receptionist.ServiceKey[M], b actor.Behavior[M]) actor.Behavior[M] {
	return func(ctx *actor.Context[M], next *actor.Next[M]) {
		receptionist.Register(ctx.System(), key, ctx.Self())
		b(ctx, next)
	}
}
