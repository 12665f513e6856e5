// Package actorhook connects package internal/extension with the unexported parts of package actor,
// which that package must not export to users. Package actor sets the functions when it is
// initialized.
package actorhook

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/understudy-go/understudy/internal/histogram"
	"github.com/understudy-go/understudy/internal/metadata"
)

// Internals returns what package extension may call of a *actor.System, an actor.ActorRef or an
// *actor.Context. Package extension knows the methods by interfaces of its own.
var Internals func(v any) any

// SetRef makes ref, a pointer to an ActorRef, lead to a core that the internals have made.
var SetRef func(ref, made any)

// Marked implements extension.Marked: it takes and returns a Behavior.
var Marked func(b, mark any) any

// WillBlock announces that the actor to which ctx belongs is going to block.
var WillBlock func(ctx context.Context)

// ExplainWaiting implements extension.ExplainWaiting.
var ExplainWaiting func(ctx context.Context, why error, inside bool)

// Priority returns the function of the prioritized mailbox that an actor.SpawnOption sets, or nil.
var Priority func(option any) any

// AdmissionCheck returns the actor.SpawnOption by which check is called before each message.
var AdmissionCheck func(check func() error) any

// SpawnContext returns the actor.SpawnOption of extension.WithContext.
var SpawnContext func(ctx context.Context) any

// Binder returns what binds the refs in a decoded value to system, a *actor.System.
var Binder func(system any) interface {
	Bind(v reflect.Value) error
}

// Patience says what ends the wait of a sender for room in the queue for another node.
type Patience struct {
	Done    <-chan struct{} // of the context of an ask; may be nil
	Hurried <-chan struct{} // the system has been stopping its actors for a while
	Within  time.Duration   // of an ask with a timeout; 0 for none
}

// A Target is the address of an actor on another node.
type Target struct {
	Address string // host:port of its node
	Path    string // within its system: "/user/name"
	UID     uint64 // its unique number; 0 addresses whichever actor lives at Path
	Full    string // the full path, for log entries and dead letters
}

// A HandlingError is the failure of an actor while it handled one message.
type HandlingError struct {
	Err   error // the failure, as an actor.Strategy sees it
	Ended bool  // the failure ends the actor; otherwise supervision resumes or restarts it
}

// Error returns the text of the failure.
func (e *HandlingError) Error() string { return fmt.Sprintf("actor: failed at the message: %v", e.Err) }

// Unwrap returns the failure.
func (e *HandlingError) Unwrap() error { return e.Err }

// A Dispatcher dispatches encoded messages to an actor.
type Dispatcher interface {
	// Undecodable is called for each message that cannot be decoded, in its place among the others.
	// i is its index.
	Undecodable(i int, err error)
}

// A Last is a message that, if OvertakesNone returns true, overtakes no earlier message from its
// node to another one, not even a large message for another actor.
type Last interface{ OvertakesNone() bool }

// An Arrival is an encoded message from another node.
type Arrival struct {
	Type string
	Data []byte // CBOR
	Own  bool   // nobody else uses Data, so the message may share its memory

	Metadata metadata.Metadata // empty for most
}

// OwnKind is the kind of the actors of this module that no program has spawned.
const OwnKind = "understudy"

// ShortName returns the name of a type, also of its arguments, with the last element of the path of
// its package. A longer name than a kind may have ends in three dots. It does without package
// regexp, which would make small programs larger.
func ShortName(t reflect.Type) string {
	var short strings.Builder
	name := t.String()
	for begin := 0; begin < len(name); {
		end := begin + 1 // of a word and the mark behind it
		for end < len(name) && !strings.ContainsRune("[],*", rune(name[end-1])) {
			end++
		}
		word := name[begin:end]
		short.WriteString(word[strings.LastIndexByte(word, '/')+1:])
		begin = end
	}
	if short.Len() > MaxKind {
		return strings.ToValidUTF8(short.String()[:MaxKind-len("...")], "") + "..."
	}
	return short.String()
}

// MaxKind is how many bytes a kind has at most.
const MaxKind = 100

// A KindCount is what a system has counted about the actors of one kind.
type KindCount struct {
	Name                                           string
	Started, Stopped, Failures, Restarts, Messages uint64
	Stashed                                        int64             // messages
	Dropped                                        map[string]uint64 // messages that have become dead letters, by reason
	Processing                                     histogram.Snapshot
}

// A Tracer is telemetry.Tracer.
type Tracer interface {
	Inject(ctx context.Context) []byte
	Start(ctx context.Context, carried []byte, s Span) (within context.Context, end func(error))
}

// A Span is telemetry.Span.
type Span struct {
	Operation string
	Subject   string
	Path      func() string
	Message   func() any
	Linked    bool
	Began     time.Time
	Details   func() []Detail
}

// A Detail is telemetry.Detail.
type Detail = struct{ Name, Value string }
