package extension

import (
	"context"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/actorhook"
)

type (
	// A Tracer is documented as telemetry.Tracer.
	Tracer = actorhook.Tracer
	// A Span is documented as telemetry.Span.
	Span = actorhook.Span
	// A Detail is documented as telemetry.Detail.
	Detail = actorhook.Detail
)

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
