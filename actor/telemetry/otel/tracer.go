package otel

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/telemetry"
)

// A TracingOption changes what [WithTracing] does.
type TracingOption func(*tracer)

// WithBaggage lets messages carry the baggage of their trace, if it has at most most bytes as text;
// a larger one is left out as a whole. Zero or less means 512. Without this option no message
// carries baggage. All metadata of a message together has at most 1 KiB, beyond which nothing is
// carried.
func WithBaggage(most int) TracingOption {
	if most <= 0 {
		most = 512
	}
	return func(t *tracer) { t.baggage = most }
}

// WithTracing makes a system trace its messages with p, such as a TracerProvider of the SDK.
// Sampling is decided where a trace begins, by the sampler of p: messages in a trace that is not
// sampled carry nothing, and cost next to nothing.
//
//	system := actor.NewSystem("shop", otel.WithTracing(provider))
//
// A node of a cluster takes it in Config.SystemOptions. Each node of a cluster should have a
// tracer; one without passes traces on, but has no spans. WithTracing panics if p or an option is
// nil.
func WithTracing(p trace.TracerProvider, opts ...TracingOption) actor.Option {
	if p == nil {
		panic("otel: WithTracing: the provider is nil")
	}
	s := scope()
	t := &tracer{tracer: p.Tracer(s.Name, trace.WithInstrumentationVersion(s.Version), trace.WithSchemaURL(schemaURL))}
	for i, o := range opts {
		if o == nil {
			panic(fmt.Sprintf("otel: WithTracing: option %d is nil", i+1))
		}
		o(t)
	}
	return telemetry.WithTracer(t)
}

type tracer struct {
	tracer  trace.Tracer
	baggage int // in bytes; 0 for none
}

var _ telemetry.Tracer = (*tracer)(nil)

func (t *tracer) Inject(ctx context.Context) []byte {
	c := trace.SpanContextFromContext(ctx)
	if !c.IsSampled() || !c.IsValid() {
		return nil
	}
	return t.carry(c, baggage.FromContext(ctx))
}

func (t *tracer) Start(ctx context.Context, carried []byte, s telemetry.Span) (context.Context, func(error)) {
	opts := append(make([]trace.SpanStartOption, 0, 5), trace.WithSpanKind(kinds[s.Operation]), trace.WithAttributes(attributes(s)...))
	from, bag := read(carried)
	switch {
	case s.Linked:
		opts = append(opts, trace.WithNewRoot())
		if from.IsValid() {
			opts = append(opts, trace.WithLinks(trace.Link{SpanContext: from}))
		}
	case from.IsValid():
		ctx = trace.ContextWithRemoteSpanContext(ctx, from)
	}
	if !s.Began.IsZero() {
		opts = append(opts, trace.WithTimestamp(s.Began))
	}
	if t.baggage > 0 && bag.Len() > 0 {
		ctx = baggage.ContextWithBaggage(ctx, bag)
	}
	ctx, span := t.tracer.Start(ctx, nameOfSpan(s), opts...)
	return ctx, func(err error) { end(span, s.Details, err) }
}

func end(span trace.Span, details func() []telemetry.Detail, err error) {
	if details != nil && span.IsRecording() {
		for _, d := range details() {
			span.SetAttributes(attribute.String("understudy."+d.Name, d.Value))
		}
	}
	if err != nil {
		span.SetStatus(codes.Error, err.Error())
		span.SetAttributes(attribute.String("error.type", errorType(err)))
	}
	span.End()
}

func errorType(err error) string {
	for _, known := range errorTypes {
		if errors.Is(err, known.err) {
			return known.name
		}
	}
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	if name := fmt.Sprintf("%T", err); name != "*errors.errorString" {
		return name
	}
	return "_OTHER" // the word of OpenTelemetry's conventions for errors without a type
}

// What a message carries is the IDs of trace and span and the flags, as [telemetry.Tracer] says,
// then the text of the trace state, and after a zero byte the text of the baggage.

const idsSize = 16 + 8 + 1

// In bytes. W3C Trace Context asks for 512.
const maxState = 512

func (t *tracer) carry(c trace.SpanContext, bag baggage.Baggage) []byte {
	traceID, spanID := c.TraceID(), c.SpanID()
	carried := make([]byte, 0, idsSize)
	carried = append(carried, traceID[:]...)
	carried = append(carried, spanID[:]...)
	carried = append(carried, byte(c.TraceFlags()))
	if c.TraceState().Len() > 0 {
		if state := c.TraceState().String(); len(state) <= maxState {
			carried = append(carried, state...)
		}
	}
	if t.baggage > 0 && bag.Len() > 0 {
		if text := bag.String(); len(text) <= t.baggage {
			carried = append(append(carried, 0), text...)
		}
	}
	return carried
}

// What cannot be read is empty.
func read(carried []byte) (c trace.SpanContext, bag baggage.Baggage) {
	if len(carried) < idsSize {
		return c, bag
	}
	state, text, _ := bytes.Cut(carried[idsSize:], []byte{0})
	parsed, _ := trace.ParseTraceState(string(state)) // a malformed one is left out
	bag, _ = baggage.Parse(string(text))
	return trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: trace.TraceID(carried[:16]), SpanID: trace.SpanID(carried[16:24]),
		TraceFlags: trace.TraceFlags(carried[24]), TraceState: parsed, Remote: true,
	}), bag
}
