package otel

import (
	"bytes"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/trace"
)

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
