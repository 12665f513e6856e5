package otel_test

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/telemetry/otel"
	behaviors "github.com/understudy-go/understudy/behavior"
)

// A program usually has a reader that exports by itself, as metric.NewPeriodicReader does.
func ExampleNewProducer() {
	ctx := context.Background()
	system := actor.NewSystem("shop")
	actor.Spawn(system, behaviors.Ignore[string], "clerk", actor.WithKind("clerk"))
	reader := metric.NewManualReader(metric.WithProducer(otel.NewProducer(system)))
	provider := metric.NewMeterProvider(metric.WithReader(reader))

	var read metricdata.ResourceMetrics
	if err := reader.Collect(ctx, &read); err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range read.ScopeMetrics[0].Metrics {
		if m.Name == "understudy.actors.started" {
			for _, p := range m.Data.(metricdata.Sum[float64]).DataPoints {
				fmt.Println(m.Name, p.Attributes.ToSlice(), p.Value, m.Unit)
			}
		}
	}
	fmt.Println(provider.Shutdown(ctx), system.Shutdown(ctx))
	// Output:
	// understudy.actors.started [{"kind":"clerk"}] 1 {actor}
	// <nil> <nil>
}

// The span of the caller, the ask and the handler are one trace.
func ExampleWithTracing() {
	exported := tracetest.NewInMemoryExporter()
	provider := trace.NewTracerProvider(trace.WithSyncer(exported))
	system := actor.NewSystem("shop", otel.WithTracing(provider))
	clerk := actor.Spawn(system, behaviors.Receive(func(_ *actor.Context[actor.ActorRef[string]], replyTo actor.ActorRef[string]) actor.Behavior[actor.ActorRef[string]] {
		replyTo.Tell("yes")
		return behaviors.Same
	}), "clerk", actor.WithKind("clerk"))

	ctx, span := provider.Tracer("shop").Start(context.Background(), "open?")
	fmt.Println(actor.Ask(ctx, clerk, func(replyTo actor.ActorRef[string]) actor.ActorRef[string] { return replyTo }))
	span.End()
	fmt.Println(system.Shutdown(ctx))
	names := map[string]bool{}
	for _, s := range exported.GetSpans() {
		names[s.Name] = s.SpanContext.TraceID() == span.SpanContext().TraceID()
	}
	fmt.Println(names)
	// Output:
	// yes <nil>
	// <nil>
	// map[ask actor.ActorRef[string]:true open?:true process clerk:true]
}
