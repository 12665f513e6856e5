package sharding

import (
	"strings"

	"github.com/understudy-go/understudy/actor"
)

// Passivate asks that the entity with that context ends. It handles the messages that it has, then
// the [StopMessage], if there is one, and ends. What arrives meanwhile starts it again. If nothing
// does, a remembered entity is forgotten. An actor that an entity has spawned can call it for that
// entity. Elsewhere, as in a test of the behavior alone, Passivate does nothing.
func Passivate[M any](ctx *actor.Context[M]) {
	if p, inShard := ctx.Value(passivatorKey{}).(passivator); inShard {
		p.passivate(ctx.Self().Path())
	}
}

type passivatorKey struct{}

// A passivator is a shard, whatever the type of its messages.
type passivator interface{ passivate(path string) }

// passivate lets the entity end that has a path, or is above it.
func (r *residents[M]) passivate(path string) {
	name, below := strings.CutPrefix(path, r.path+"/")
	name, _, _ = strings.Cut(name, "/")
	r.lane.mu.Lock()
	defer r.lane.mu.Unlock()
	if e := r.all[name]; below && e != nil && e.ref != (actor.ActorRef[M]{}) {
		e.asked = true
		r.hooks.asked()
		r.actors.Finish(e.ref)
	}
}
