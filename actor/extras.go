package actor

import (
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/internal/metadata"
)

// Most cells never need them. The turn owns them.
type extras struct {
	supervision supervision
	timers      timers
	wrapping    *wrapping
	transition  *transition           // that a behavior is filling in; nil for nothing
	asInner     *inner                // of an inner cell; nil for others
	bypassing   *bypassRequest        // opens once the mailbox is empty
	bypass      atomic.Pointer[inbox] // where messages go instead, while they are bypassed; written under core.mu, and its mutex may be taken under that one
	watched     watches
	cleanups    cleanups
	asks        linkedList[selfAsk] // without an outcome
	log         *zap.Logger
	metadata    metadata.Metadata // of the message that is being handled
	span        *span
	priorities  *priorities // of a mailbox with priorities
	pause       *pause      // in phase paused
	awaited     int
	backlog     backlog
	senders     *blockedSenders // of a mailbox that blocks; guarded by core.mu
}

// noExtras are the extras of cells without their own; never written.
var noExtras = extras{supervision: supervision{base: -1, restart: -1}}

// A config is how a cell was spawned, and what it shares.
type config struct {
	spawnConfig
	kinded  *kinded
	returns *returning // gets the messages that are left at the end; nil: they are dead letters
}

// Every write that may be the first uses it. Reads find the shared empty extras.
func (b *inbox) own() *extras {
	if b.extras != &noExtras {
		return b.extras
	}
	b.extras = &extras{supervision: supervision{restart: -1}}
	if b.core.phase == starting {
		b.supervision.base = -1
	}
	return b.extras
}

func (b *inbox) depth() int { return len(b.supervision.layers) }
