package actor

import (
	"reflect"
	"sync"
	"time"

	"go.uber.org/zap"
)

// extras are fields that most cells never need. The turn owns them.
type extras[M any] struct {
	layers     []*layer[M]   // of supervision, the innermost last
	base       int           // how many of them the first behavior set; -1: it has not run yet
	replaced   []*layer[M]   // those that there were before the transition that is under way; nil: the same
	restart    int           // index of the layer that restarts; -1: the actor starts
	awaiting   bool          // the restart waits for children
	delay      time.Duration // of the restart, once they are gone
	backoff    *time.Timer
	timers     timers[M]
	idle       *receiveTimeout[M]
	wrapping   *wrapping[M]
	bypassing  *bypassRequest[M] // takes the bypass once nothing waits
	bypass     *cell[M]          // where messages go instead, while they are bypassed; guarded by core.mu, and its mutex may be taken under that one
	watched    map[*core]*watch[M]
	cleanups   []cleanup
	asks       pendingAsks
	log        *zap.Logger
	priorities *priorities[M]     // of a mailbox with priorities
	senders    *blockedSenders[M] // of a mailbox that blocks; guarded by core.mu
}

// common is shared by all cells of one message type.
type common[M any] struct {
	chunks chunks[M]
	none   extras[M] // of those that have none of their own: never written to
	conf   config[M] // of those that are spawned without options
	ignore MessageHandler[M]

	ignoreSignals SignalHandler[M]
}

// A config is how a cell was spawned, and what it shares.
type config[M any] struct {
	spawnConfig
	*common[M]
}

// own returns the extras of c for writing. Every write that may be the first uses it. Reads need not: they
// find the shared empty extras.
func (c *cell[M]) own() *extras[M] {
	if c.extras != &c.conf.none {
		return c.extras
	}
	c.extras = &extras[M]{restart: -1}
	if c.phase == starting {
		c.base = -1
	}
	return c.extras
}

// commons maps reflect.Type to the common of that message type.
var commons sync.Map

func commonOf[M any]() *common[M] {
	key := reflect.TypeFor[M]()
	if known, ok := commons.Load(key); ok {
		return known.(*common[M]) // stored under its type
	}
	fresh := new(common[M])
	fresh.conf.common = fresh
	fresh.ignore = func(*Context[M], M) Behavior[M] { return nil }
	fresh.ignoreSignals = func(*Context[M], Signal) Behavior[M] { return nil }
	fresh.none.base, fresh.none.restart = -1, -1
	known, _ := commons.LoadOrStore(key, fresh)
	return known.(*common[M]) // stored under its type
}
