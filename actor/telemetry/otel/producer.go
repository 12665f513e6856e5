package otel

import (
	"context"
	"runtime/debug"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/instrumentation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/telemetry"
)

// ScopeName is the instrumentation scope of everything that this package produces. The version of
// the module is the version of the scope.
const ScopeName = "github.com/understudy-go/understudy/actor/telemetry/otel"

// NewProducer returns a producer of the metrics of s: counters are cumulative sums, gauges are
// gauges, and durations are histograms with explicit bounds. It keeps nothing between collections,
// and also works after the end of s. Any number of readers may use it.
//
// To tell several systems in one process apart, use a meter provider with a resource for each.
func NewProducer(s *actor.System) metric.Producer { return producer{s} }

type producer struct{ system *actor.System }

var began = time.Now()

func (p producer) Produce(context.Context) ([]metricdata.ScopeMetrics, error) {
	now := time.Now()
	var all []metricdata.Metrics
	for _, f := range telemetry.Gather(p.system) {
		if len(f.Series) > 0 {
			all = append(all, metricdata.Metrics{Name: nameOf(f.Name), Description: f.Help, Unit: unitOf(f.Name), Data: dataOf(f, now)})
		}
	}
	return []metricdata.ScopeMetrics{{Scope: scope(), Metrics: all}}, nil
}

func scope() instrumentation.Scope {
	s := instrumentation.Scope{Name: ScopeName}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return s
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == ScopeName {
			s.Version = m.Version
		}
	}
	return s
}

func dataOf(f telemetry.Family, now time.Time) metricdata.Aggregation {
	switch f.Type {
	case telemetry.Counter:
		return metricdata.Sum[float64]{DataPoints: pointsOf(f, now), Temporality: metricdata.CumulativeTemporality, IsMonotonic: true}
	case telemetry.Histogram:
		h := metricdata.Histogram[float64]{Temporality: metricdata.CumulativeTemporality}
		for _, s := range f.Series {
			h.DataPoints = append(h.DataPoints, histogramOf(f, s, now))
		}
		return h
	case telemetry.Gauge:
	}
	return metricdata.Gauge[float64]{DataPoints: pointsOf(f, now)}
}

func pointsOf(f telemetry.Family, now time.Time) []metricdata.DataPoint[float64] {
	points := make([]metricdata.DataPoint[float64], len(f.Series))
	for i, s := range f.Series {
		points[i] = metricdata.DataPoint[float64]{Attributes: attributesOf(f, s), StartTime: began, Time: now, Value: s.Value}
	}
	return points
}

// Here each bucket counts for itself.
func histogramOf(f telemetry.Family, s telemetry.Series, now time.Time) metricdata.HistogramDataPoint[float64] {
	p := metricdata.HistogramDataPoint[float64]{
		Attributes: attributesOf(f, s), StartTime: began, Time: now, Count: s.Durations.Count, Sum: s.Durations.Sum.Seconds(),
	}
	before := uint64(0)
	for _, b := range s.Durations.Buckets {
		p.Bounds = append(p.Bounds, b.Bound.Seconds())
		p.BucketCounts = append(p.BucketCounts, b.Count-before)
		before = b.Count
	}
	p.BucketCounts = append(p.BucketCounts, s.Durations.Count-before)
	return p
}

func attributesOf(f telemetry.Family, s telemetry.Series) attribute.Set {
	var all []attribute.KeyValue
	for i, label := range f.Labels[:min(len(f.Labels), len(s.Labels))] {
		all = append(all, attribute.String(label, strings.ToValidUTF8(s.Labels[i], "\uFFFD")))
	}
	return attribute.NewSet(all...)
}

// OpenTelemetry wants a name without type and unit, and with dots after the namespaces. They are
// the first word after the prefix and the prefix itself.
func nameOf(family string) string {
	name := strings.TrimSuffix(family, "_total")
	for _, suffix := range []string{"_seconds", "_bytes"} {
		name = strings.TrimSuffix(name, suffix)
	}
	return strings.Replace(name, "_", ".", 2)
}

// The unit is s, By, or what the family counts, in braces; "" if it counts nothing.
func unitOf(family string) string {
	name := strings.TrimSuffix(family, "_total")
	switch {
	case strings.HasSuffix(name, "_seconds"):
		return "s"
	case strings.HasSuffix(name, "_bytes"):
		return "By"
	case strings.HasSuffix(name, "_letters"):
		return "{message}"
	}
	words := strings.Split(name, "_")
	for i := len(words) - 1; i > 0; i-- {
		if one, plural := singular(words[i]); plural {
			return "{" + one + "}"
		}
	}
	return ""
}

func singular(word string) (one string, plural bool) {
	if one, ok := strings.CutSuffix(word, "ies"); ok {
		return one + "y", true
	}
	one, plural = strings.CutSuffix(word, "s")
	return one, plural && !strings.HasSuffix(one, "s")
}
