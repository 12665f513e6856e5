// Package otel connects an actor system to OpenTelemetry. It is a module of its own.
//
// This package is experimental: a minor release may change it.
//
// # Metrics
//
// [NewProducer] is an external producer of the SDK. Each reader that is given one exports the
// metrics of the system:
//
//	reader := metric.NewPeriodicReader(exporter, metric.WithProducer(otel.NewProducer(system)))
//	provider := metric.NewMeterProvider(metric.WithReader(reader))
//
// The metrics are those of [telemetry.Gather], which docs/monitoring.md lists by their names in
// Prometheus. Here understudy_actors_started_total is understudy.actors.started, with the unit
// {actor}. An exporter to Prometheus turns the names back. No instrument is called on the way of a
// message: each collection reads what the system counts anyway.
//
// # Traces
//
// [WithTracing] lets the messages of a system carry their trace, and makes spans of what is done
// with them. A message is in the trace of the context under which it is sent, see
// [actor.ActorRef.TellContext]; docs/monitoring.md has a list of the spans.
//
// Spans of operations have attributes with the prefix "understudy.":
//
//   - singleton.handover: singleton.name; singleton.from and singleton.to, addresses of nodes;
//     singleton.generation, if an instance runs; singleton.reason: hand-over when the last host is
//     there or has left, failover when it is unreachable or was removed, restart when this node was
//     the last host itself.
//   - lease.acquire: lease.name; lease.holder, the address of the node or of the manager that asks;
//     lease.outcome: acquired, held by another or failed; singleton.name, if a singleton needs it.
//   - placement.move: placement.spec, the label; placement.instance, the number of the request that
//     has started it; placement.from and placement.to, names of nodes; placement.cause.
//   - shard.move: shard.label, the type and the number; shard.from and shard.to, names of nodes;
//     shard.cause: drain, balance, node lost or ended.
package otel
