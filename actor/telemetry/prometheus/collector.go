// Package prometheus serves the metrics of an actor system to Prometheus, through its official
// client. It is a module of its own.
//
//	http.Handle("/metrics", prometheus.Handler(system))
//
// On a node of a cluster, pass the handler to the status page:
//
//	node.Handler(cluster.WithMetrics(prometheus.Handler(node.System)))
//
// The metrics are those of [telemetry.Gather], which docs/monitoring.md lists. Nothing is counted
// twice or kept: each scrape reads what the system counts anyway.
package prometheus

import (
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/telemetry"
)

// Handler returns an HTTP handler with the metrics of s, of the Go runtime and of the process. To
// serve them together with metrics of the program, register [NewCollector] instead. A series that
// cannot be served is left out and counted in promhttp_metric_handler_errors_total: its source gave
// it too few labels. Of series with the same labels, the first is served. Any goroutine may use it,
// also after the end of s.
func Handler(s *actor.System) http.Handler {
	r := prometheus.NewRegistry()
	r.MustRegister(NewCollector(s), collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return promhttp.HandlerFor(r, promhttp.HandlerOpts{Registry: r, ErrorHandling: promhttp.ContinueOnError})
}

// NewCollector returns a collector of the metrics of s. It may be registered once in each registry.
// It is unchecked, because packages add metrics as they are used: it describes none beforehand. It
// replaces what is not valid UTF-8 in the values of labels. Serve it with a handler that has the
// option [promhttp.ContinueOnError]: else one bad series fails the whole scrape. To tell several
// systems in one process apart, wrap the registerer with [prometheus.WrapRegistererWith].
func NewCollector(s *actor.System) prometheus.Collector { return collector{s} }

type collector struct{ system *actor.System }

func (collector) Describe(chan<- *prometheus.Desc) {}

func (c collector) Collect(to chan<- prometheus.Metric) {
	for _, f := range telemetry.Gather(c.system) {
		desc, sent := prometheus.NewDesc(f.Name, f.Help, f.Labels, nil), map[string]bool{}
		for _, s := range f.Series {
			labels := valid(s.Labels)
			if key := strings.Join(labels, "\x00"); !sent[key] {
				sent[key] = true
				to <- metric(desc, f.Type, s, labels)
			}
		}
	}
}

func valid(labels []string) []string {
	all := make([]string, len(labels))
	for i, l := range labels {
		all[i] = strings.ToValidUTF8(l, "\uFFFD")
	}
	return all
}

func metric(desc *prometheus.Desc, t telemetry.Type, s telemetry.Series, labels []string) prometheus.Metric {
	m, err := constant(desc, t, s, labels)
	if err != nil { // the source gives a label too many or too few; the others are served
		return prometheus.NewInvalidMetric(desc, err)
	}
	return m
}

func constant(desc *prometheus.Desc, t telemetry.Type, s telemetry.Series, labels []string) (prometheus.Metric, error) {
	switch t {
	case telemetry.Counter:
		return prometheus.NewConstMetric(desc, prometheus.CounterValue, s.Value, labels...)
	case telemetry.Histogram:
		buckets := make(map[float64]uint64, len(s.Durations.Buckets))
		for _, b := range s.Durations.Buckets {
			buckets[b.Bound.Seconds()] = b.Count
		}
		return prometheus.NewConstHistogram(desc, s.Durations.Count, s.Durations.Sum.Seconds(), buckets, labels...)
	case telemetry.Gauge:
	}
	return prometheus.NewConstMetric(desc, prometheus.GaugeValue, s.Value, labels...)
}
