package otel

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.37.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/persistence/journal"
)

// Those of messaging are not stable, and this package follows another version only in a minor
// release.
const schemaURL = semconv.SchemaURL

var kinds = map[string]trace.SpanKind{
	"process": trace.SpanKindConsumer,
	"send":    trace.SpanKindProducer,
	"ask":     trace.SpanKindClient,
}

// What the operation is about comes from a small set.
func nameOfSpan(s telemetry.Span) string {
	about := s.Subject
	if about == "" {
		about = s.MessageType()
	}
	if about == "" || s.Operation == "send" { // the address would make a name for each node
		return s.Operation
	}
	return s.Operation + " " + about
}

func attributes(s telemetry.Span) []attribute.KeyValue {
	all := make([]attribute.KeyValue, 0, 6)
	if _, messaging := kinds[s.Operation]; messaging {
		all = append(all, semconv.MessagingSystemKey.String("understudy"), semconv.MessagingOperationName(s.Operation))
	}
	switch s.Operation {
	case "process":
		all = append(all, attribute.String("messaging.understudy.actor_kind", s.Subject))
	case "send":
		all = append(all, semconv.ServerAddress(s.Subject))
	}
	if s.Path != nil {
		all = append(all, semconv.MessagingDestinationName(s.Path()))
	}
	if t := s.MessageType(); t != "" {
		all = append(all, attribute.String("messaging.understudy.message_type", t))
	}
	return all
}

var errorTypes = []struct {
	err  error
	name string
}{
	{journal.ErrFenced, "fenced"},
	{actor.ErrUnreachable, "unreachable"},
	{actor.ErrTerminated, "terminated"},
	{actor.ErrNoSuchActor, "no_such_actor"},
	{actor.ErrMailboxFull, "mailbox_full"},
	{context.DeadlineExceeded, "timeout"},
	{context.Canceled, "cancelled"},
}
