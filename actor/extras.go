package actor

import (
	"reflect"
	"sync"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/internal/metadata"
)

// extras are fields that most cells never need. The turn owns them.
type extras[M any] struct {
	supervision supervision[M]
	timers      timers[M]
	wrapping    *wrapping[M]
	bypassing   *bypassRequest[M]        // opens once the mailbox is empty
	bypass      atomic.Pointer[inbox[M]] // where messages go instead, while they are bypassed; written under core.mu, and its mutex may be taken under that one
	watched     watches[M]
	cleanups    cleanups
	asks        pendingAsks
	log         *zap.Logger
	metadata    metadata.Metadata  // of the message that is being handled
	span        *span              // likewise; nil if it is in no trace
	priorities  *priorities[M]     // of a mailbox with priorities
	pause       *pause[M]          // in phase paused
	awaited     int                // see keeps
	senders     *blockedSenders[M] // of a mailbox that blocks; guarded by core.mu
}

// common is shared by all cells of one message type.
type common[M any] struct {
	chunks chunks[M]
	none   extras[M] // the extras of cells without their own; never written
	conf   config[M] // the config of cells spawned without options
	ignore MessageHandler[M]

	ignoreSignals SignalHandler[M]
	port          port

	ofMessages string               // the kind of actors that are spawned without one
	kind       atomic.Pointer[kind] // of that name, of the system that asked last
}

// A config is how a cell was spawned, and what it shares.
type config[M any] struct {
	spawnConfig
	*common[M]
	returns *returning[M] // gets the messages that are left at the end; nil: they are dead letters
}

// own returns the extras of c for writing. Every write that may be the first uses it. Reads need
// not: they find the shared empty extras.
func (b *inbox[M]) own() *extras[M] {
	if b.extras != &b.conf.none {
		return b.extras
	}
	b.extras = &extras[M]{supervision: supervision[M]{restart: -1}}
	if b.core.phase == starting {
		b.supervision.base = -1
	}
	return b.extras
}

// depth returns how many strategies are around the current behavior.
func (b *inbox[M]) depth() int { return len(b.supervision.layers) }

// ownCleanups returns the functions given to Defer, for writing.
func (b *inbox[M]) ownCleanups() *cleanups { return &b.own().cleanups }

// commons maps reflect.Type to the common of that message type.
var commons sync.Map

func commonOf[M any]() *common[M] {
	key := reflect.TypeFor[M]()
	if known, ok := commons.Load(key); ok {
		return known.(*common[M]) // stored under its type
	}
	fresh := new(common[M])
	fresh.conf.common, fresh.ofMessages = fresh, kindOf(key)
	fresh.port = port{tell: tellCell[M], tellBy: tellCellBy[M], take: takeDelivered[M], cell: true}
	fresh.ignore = func(*Context[M], M) Behavior[M] { return nil }
	fresh.ignoreSignals = func(*Context[M], Signal) Behavior[M] { return nil }
	fresh.none.supervision.base, fresh.none.supervision.restart = -1, -1
	known, _ := commons.LoadOrStore(key, fresh)
	return known.(*common[M]) // stored under its type
}
