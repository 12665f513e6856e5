package actor

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"

	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/histogram"
)

// WithKind sets the kind under which the actor is counted, instead of the name of its message type.
// A kind is a word for what many actors do, such as "cart", never the name of one of them: each
// kind takes memory for as long as the system lives. An empty kind sets nothing.
//
// WithKind panics if the kind has more than 100 bytes, is not valid UTF-8, or has characters that
// are not printable: it is a value in metrics, logs and tables.
func WithKind(kind string) SpawnOption {
	if len(kind) > actorhook.MaxKind || strings.ContainsFunc(kind, unprintable) {
		panic(fmt.Sprintf("actor: WithKind(%.120q): a kind is a word of at most %d bytes, in printable characters", kind, actorhook.MaxKind))
	}
	return spawnOption(func(c *spawnConfig) { c.kind = kind })
}

// unprintable is also true for what stands for a byte that is not valid UTF-8.
func unprintable(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }

type kind struct {
	of     uint64 // the number of its system
	name   string
	shards [kindShards]counts

	losses     kindLosses
	processing histogram.Histogram // of the messages of timed turns
	label      atomic.Pointer[profileLabel]
}

func newKind(of uint64, name string) *kind {
	k := &kind{of: of, name: name}
	for i := range k.shards {
		k.shards[i].of = k
	}
	return k
}

// Processors seldom write to the same set.
const kindShards = 8

type counts struct {
	started, stopped, failures, restarts, messages atomic.Uint64

	stashed atomic.Int64 // messages; it may shrink, and may be negative in one of the sets

	of *kind
	_  [8]byte
}

// A tally is where an actor is counted, and what the turn has not counted there yet.
type tally struct {
	counts  *counts // of its kind; never written after the spawn
	handled uint32  // messages
	drawn   int32   // how many messages the turn held when it last said so, negative if it knew their oldest request; guarded by core.mu
}

func (t *tally) flush() {
	if t.handled > 0 {
		t.counts.messages.Add(uint64(t.handled))
		t.handled = 0
	}
}

type kinds struct {
	number uint64 // of the system; a kind that is remembered must not keep an ended system
	byName sync.Map
}

var systemNumbers atomic.Uint64

func (k *kinds) named(name string) *kind {
	if known, ok := k.byName.Load(name); ok {
		return known.(*kind) // only kinds are stored
	}
	known, _ := k.byName.LoadOrStore(name, newKind(k.number, name))
	return known.(*kind)
}

// kinded is the kind of actors with one type of messages.
type kinded struct {
	messages   reflect.Type
	ofMessages string               // the kind of those that are spawned without one
	kind       atomic.Pointer[kind] // of that name, of the system that asked last
}

func (c *config) counts(s *System, uid uint64, ours bool) *counts {
	k := c.kinded.kind.Load()
	switch {
	case c.kind != "":
		k = s.kinds.named(c.kind)
	case ours:
		k = s.kinds.named(actorhook.OwnKind)
	case k == nil || k.of != s.kinds.number: // a process seldom has more than one system
		k = s.kinds.named(c.kinded.ofMessages)
		c.kinded.kind.Store(k)
	}
	return &k.shards[uid%kindShards]
}

func belongs(parent *core, mark any, name string) bool {
	return parent == &parent.sys.system.core || name != "" && mark != nil // all marked behaviors are ours
}

func kindOf(t reflect.Type) string {
	path := t.PkgPath()
	if path == modulePath || strings.HasPrefix(path, modulePath+"/") && !strings.HasSuffix(path, "_test") {
		return actorhook.OwnKind
	}
	return actorhook.ShortName(t)
}

const modulePath = "github.com/understudy-go/understudy"

func (s internals) Kinds() (all []actorhook.KindCount) {
	for _, v := range s.kinds.byName.Range {
		of := v.(*kind) // only kinds are stored
		sum := actorhook.KindCount{Name: of.name}
		for i := range of.shards {
			at := &of.shards[i]
			sum.Stopped += at.stopped.Load() // first, so that no actor has stopped that has not started
			sum.Started += at.started.Load()
			sum.Failures += at.failures.Load()
			sum.Restarts += at.restarts.Load()
			sum.Messages += at.messages.Load()
			sum.Stashed += at.stashed.Load()
		}
		sum.Dropped = of.losses.byReason()
		sum.Processing = of.processing.Read()
		all = append(all, sum)
	}
	slices.SortFunc(all, func(a, b actorhook.KindCount) int { return strings.Compare(a.Name, b.Name) })
	return all
}
