package extension

import (
	"context"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/actorhook"
)

// A Tracer connects a system with a library for traces: package actor/telemetry/otel has one for
// OpenTelemetry. It has two methods, which any goroutine may call:
//
//	Inject(ctx context.Context) []byte
//
// returns what a message that is sent under ctx carries. These are the 16 bytes of the ID of the
// trace, the 8 bytes of the ID of the span, and a byte of flags, as in W3C Trace Context. At most
// some hundred bytes that only the tracer reads may follow. Inject returns nil if ctx has no span,
// or one that is not sampled. It is called for each message of [actor.ActorRef.TellContext] and for
// each ask, so it must be fast for a ctx without a span.
//
//	Start(ctx context.Context, carried []byte, s Span) (within context.Context, end func(err error))
//
// begins a span. Its parent is the span that carried, a result of Inject on this or another node,
// stands for; without carried it is the span in ctx, if any. Start returns ctx with the new span,
// and a function that ends it, with an error or nil. carried that cannot be read is ignored.
//
// A method that panics, or a function that ends a span, ends nothing else: the system recovers the
// panic, logs the first one, and continues without the span.
type Tracer = actorhook.Tracer

// A Span says for what a [Tracer] begins a span. Operation is "process" for a message in its
// handler, "send" for a message to another node, "ask", "persist", "recover" and so on. Subject is
// the kind of the actor, or what else the operation is about: a word from a small set. Path returns
// the path of the actor, and Message what it handles, or nil; either function may be nil. Linked
// means that carried is no parent, but only a link. Began is when the span began; zero means now.
// Details, which may be nil, returns what is known when the span ends: the tracer calls it once,
// inside the function that ends the span.
type Span = actorhook.Span

// A Detail is what a [Span] says beyond its operation, such as the name of a singleton. The name is
// in lower case, with a namespace: "singleton.name".
type Detail = actorhook.Detail

// WithTracer makes messages carry the context of their trace, and begins spans for what is done
// with them. Messages that are in no sampled trace cost nothing more.
func WithTracer(t Tracer) actor.Option {
	return func(s *actor.System) { of(s).SetTracer(t) }
}

// TracerOf returns the tracer of s, or nil.
func TracerOf(s *actor.System) Tracer { return of(s).Tracer() }

// TraceOf returns the metadata of a message that is sent under ctx, as [actor.ActorRef.TellContext]
// sends it: the trace, or nothing.
func TraceOf(ctx context.Context, s *actor.System) Metadata { return of(s).TraceOf(ctx) }

// StartSpan begins a span below the one of ctx, the Context of a handler. It returns ctx itself and
// nil if the message of the handler is in no trace.
func StartSpan(ctx context.Context, s Span) (within context.Context, end func(error)) {
	return actorhook.Internals(ctx).(interface { // actor implements it
		StartSpan(ctx context.Context, s actorhook.Span) (context.Context, func(error))
	}).StartSpan(ctx, s)
}

// StartRootSpan begins the span of something that no message has asked for, or with carried, a
// result of Inject, one that is linked to that. It returns ctx itself and nil without a tracer.
func StartRootSpan(ctx context.Context, s *actor.System, carried []byte, of Span) (within context.Context, end func(error)) {
	t := TracerOf(s)
	if t == nil {
		return ctx, nil
	}
	of.Linked = true
	return t.Start(ctx, carried, of)
}

// StartSpanWithin begins a span below the one in ctx. If ctx has none, the span begins a trace. It
// returns ctx itself and nil without a tracer.
func StartSpanWithin(ctx context.Context, s *actor.System, of Span) (within context.Context, end func(error)) {
	t := TracerOf(s)
	if t == nil {
		return ctx, nil
	}
	return t.Start(ctx, nil, of)
}

// OwnKind is the kind of actors that belong to the framework: they count under it, see
// [actor.WithKind], and begin no spans.
const OwnKind = actorhook.OwnKind
