package telemetry

import (
	"context"
	"reflect"
	"time"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/actorhook"
	"github.com/understudy-go/understudy/internal/extension"
)

// A Tracer connects a system with a library for traces: package actor/telemetry/otel has one for
// OpenTelemetry. Any goroutine may call its methods.
//
// A method that panics, or a function that ends a span, ends nothing else: the system recovers the
// panic, logs the first one, and continues without the span.
type Tracer interface {
	// Inject returns what a message that is sent under ctx carries. These are the 16 bytes of the
	// ID of the trace, the 8 bytes of the ID of the span, and a byte of flags, as in W3C Trace
	// Context. At most some hundred bytes that only the tracer reads may follow. Inject returns nil
	// if ctx has no span, or one that is not sampled. It is called for each message of
	// [actor.ActorRef.TellContext] and for each ask, so it must be fast for a ctx without a span.
	Inject(ctx context.Context) []byte

	// Start begins a span. Its parent is the span that carried, a result of Inject on this or
	// another node, stands for; without carried it is the span in ctx, if any. Start returns ctx
	// with the new span, and a function that ends it, with an error or nil. carried that cannot be
	// read is ignored.
	Start(ctx context.Context, carried []byte, s Span) (within context.Context, end func(err error))
}

// A Span says for what a [Tracer] begins a span.
type Span struct {
	Operation string          // "process" for a message in its handler, "send" for one to another node, "ask", "persist" and so on
	Subject   string          // the kind of the actor, or what else it is about: a word from a small set
	Path      func() string   // the path of the actor; may be nil
	Message   func() any      // what it handles, or nil; may be nil
	Linked    bool            // carried is no parent, but only a link
	Began     time.Time       // zero means now
	Details   func() []Detail // called once, inside the function that ends the span; may be nil
}

// A Detail is what a [Span] says beyond its operation, such as the name of a singleton. The name is
// in lower case, with a namespace: "singleton.name".
type Detail = struct{ Name, Value string }

// MessageType returns the type of what the actor handles, without the folders of its package; ""
// if there is no message.
func (s Span) MessageType() string {
	if s.Message == nil {
		return ""
	}
	msg := s.Message()
	if msg == nil {
		return ""
	}
	return actorhook.ShortName(reflect.TypeOf(msg))
}

// WithTracer makes messages carry the context of their trace, and begins spans for what is done
// with them. Messages that are in no sampled trace cost nothing more.
func WithTracer(t Tracer) actor.Option { return extension.WithTracer(inside{t}) }

// inside is a Tracer as the runtime calls it.
type inside struct{ tracer Tracer }

func (i inside) Inject(ctx context.Context) []byte { return i.tracer.Inject(ctx) }

func (i inside) Start(ctx context.Context, carried []byte, s actorhook.Span) (context.Context, func(error)) {
	return i.tracer.Start(ctx, carried, Span(s))
}
