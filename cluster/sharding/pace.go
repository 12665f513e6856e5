package sharding

import (
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/cluster/sharding/internal/pace"
	"github.com/understudy-go/understudy/internal/extension"
	"github.com/understudy-go/understudy/internal/permits"
)

// startsEvery is the interval in which a node starts [pace.AtOnce] remembered entities.
const startsEvery = 100 * time.Millisecond

// The messages to the actor of a hub, which only this node sends.
type (
	// startsOf: a shard has remembered entities, which are to be started.
	startsOf struct {
		quiet
		typ   string
		shard pace.Starter
	}
	// startsDue: it is time to start more of them.
	startsDue struct{ quiet }
)

// A starts starts the remembered entities of a node. Only the actor of the hub uses it.
type starts struct {
	pace    pace.Pace
	system  *actor.System
	running bool // startsDue is to come
}

func (s *starts) add(ctx *actor.Context[any], of startsOf) {
	s.pace.Add(of.typ, of.shard)
	if s.running {
		s.pace.Next(s.crowded)
	} else {
		s.tick(ctx)
	}
}

func (s *starts) tick(ctx *actor.Context[any]) {
	if s.running = s.pace.Interval(s.crowded); s.running {
		ctx.After("starts", startsEvery, startsDue{})
	}
}

// crowded reports whether entities of a type wait to recover. If others joined them, an entity that
// a message wakes would have to wait for all of these.
func (s *starts) crowded(typ string) bool { return recovering(s.system, typ) > 0 }

// recovering returns how many entities of a type wait to recover.
func recovering(s *actor.System, typ string) int {
	if limit, set := extension.Get[*permits.Permits](s); set {
		return limit.Waiting(typ)
	}
	return 0
}
