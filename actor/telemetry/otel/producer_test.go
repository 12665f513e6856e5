package otel_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.uber.org/zap"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/actor/telemetry/otel"
	"github.com/understudy-go/understudy/internal/histogram"
	"github.com/understudy-go/understudy/internal/lab/busy"
)

// collect returns the metrics that a reader exports, by name.
func collect(t *testing.T, s *actor.System) map[string]metricdata.Metrics {
	t.Helper()
	reader := metric.NewManualReader(metric.WithProducer(otel.NewProducer(s)))
	provider := metric.NewMeterProvider(metric.WithReader(reader))
	defer func() { require.NoError(t, provider.Shutdown(context.Background())) }()
	var all metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(t.Context(), &all))
	require.Len(t, all.ScopeMetrics, 1)
	require.Equal(t, otel.ScopeName, all.ScopeMetrics[0].Scope.Name)
	byName := map[string]metricdata.Metrics{}
	for _, m := range all.ScopeMetrics[0].Metrics {
		require.NotContains(t, byName, m.Name, "two families have one name")
		byName[m.Name] = m
	}
	return byName
}

func TestEachTypeOfFamilyHasItsForm(t *testing.T) {
	s := actor.NewSystem("test", actor.WithLogger(zap.NewNop()))
	defer func() { require.NoError(t, s.Shutdown(context.Background())) }()
	gauge := telemetry.Family{Name: "understudy_test_level", Help: "A gauge.", Labels: []string{"a"}}
	gauge.Add(1.5, "x\xff")
	counter := telemetry.Family{Name: "understudy_test_events_total", Help: "A counter.", Type: telemetry.Counter}
	counter.Add(7)
	var h histogram.Histogram
	h.Observe(time.Microsecond)
	h.Observe(2 * time.Second)
	h.Observe(time.Minute)
	times := telemetry.Family{Name: "understudy_test_seconds", Help: "A histogram.", Type: telemetry.Histogram}
	times.AddDurations(h.Read().Parts())
	empty := telemetry.Family{Name: "understudy_test_nothing", Help: "No series."}
	telemetry.AddSource(s, func() []telemetry.Family { return []telemetry.Family{gauge, counter, times, empty} })

	all := collect(t, s)
	require.NotContains(t, all, "understudy.test.nothing")

	level := all["understudy.test.level"]
	require.Equal(t, "A gauge.", level.Description)
	require.Empty(t, level.Unit)
	point := level.Data.(metricdata.Gauge[float64]).DataPoints[0]
	require.InDelta(t, 1.5, point.Value, 0)
	require.Equal(t, attribute.NewSet(attribute.String("a", "x\uFFFD")), point.Attributes)

	events := all["understudy.test.events"]
	require.Equal(t, "{event}", events.Unit)
	sum := events.Data.(metricdata.Sum[float64])
	require.True(t, sum.IsMonotonic)
	require.Equal(t, metricdata.CumulativeTemporality, sum.Temporality)
	require.InDelta(t, 7, sum.DataPoints[0].Value, 0)
	require.False(t, sum.DataPoints[0].StartTime.After(sum.DataPoints[0].Time))

	test := all["understudy.test"]
	require.Equal(t, "s", test.Unit)
	histogram := test.Data.(metricdata.Histogram[float64])
	require.Equal(t, metricdata.CumulativeTemporality, histogram.Temporality)
	bars := histogram.DataPoints[0]
	require.Len(t, bars.Bounds, 13)
	require.InDelta(t, 1.024e-6, bars.Bounds[0], 1e-12)
	require.Equal(t, []uint64{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1}, bars.BucketCounts)
	require.Equal(t, uint64(3), bars.Count)
	require.InDelta(t, 62.000001, bars.Sum, 1e-9)
}

func TestABusyClusterIsExported(t *testing.T) {
	p, err := busy.Start(t.Context(), t.TempDir(), 2)
	require.NoError(t, err)
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		require.NoError(t, p.Close(ctx))
	}()
	all := collect(t, p.Nodes[0].System)
	for name, unit := range map[string]string{
		"understudy.actors": "{actor}", "understudy.actors.started": "{actor}", "understudy.dead.letters": "{message}", "understudy.members": "{member}",
		"understudy.messages.processed": "{message}", "understudy.singleton.hosted": "", "understudy.singleton.outage": "s", "understudy.singleton.held_messages": "{message}",
	} {
		require.Contains(t, all, name)
		require.Equal(t, unit, all[name].Unit, name)
	}
	require.InDelta(t, familiesOf(p.Nodes[0].System), len(all), 3) // some have got or lost their only series since
}

// familiesOf returns how many families have series.
func familiesOf(s *actor.System) (families int) {
	for _, f := range telemetry.Gather(s) {
		if len(f.Series) > 0 {
			families++
		}
	}
	return families
}
