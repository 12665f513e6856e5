package telemetry_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor/telemetry"
	"github.com/understudy-go/understudy/internal/histogram"
	"github.com/understudy-go/understudy/testkit"
)

func TestSeriesWithEqualLabelsAddUp(t *testing.T) {
	s := testkit.NewSystem(t, testkit.WithoutEncoding())
	var h histogram.Histogram
	h.Observe(1 << 20)
	add := func(value float64, label string) {
		telemetry.AddSource(s, func() []telemetry.Family {
			f := telemetry.Family{Name: "test_value", Labels: []string{"of"}}
			f.Add(value, label)
			d := telemetry.Family{Name: "test_seconds", Type: telemetry.Histogram}
			d.AddDurations(h.Read().Parts())
			return []telemetry.Family{f, d}
		})
	}
	add(1, "b")
	add(2, "a")
	add(4, "b")
	all := telemetry.Gather(s)
	family := func(name string) telemetry.Family {
		return all[slices.IndexFunc(all, func(f telemetry.Family) bool { return f.Name == name })]
	}
	require.Equal(t, []telemetry.Series{{Labels: []string{"a"}, Value: 2}, {Labels: []string{"b"}, Value: 5}}, family("test_value").Series)
	require.Len(t, family("test_seconds").Series, 1)
	d := family("test_seconds").Series[0].Durations
	require.EqualValues(t, 3, d.Count)
	require.EqualValues(t, 3, d.Buckets[len(d.Buckets)-1].Count)
	require.EqualValues(t, 0, d.Buckets[0].Count)
}

func TestARemovedSourceHasNoSeries(t *testing.T) {
	s := testkit.NewSystem(t, testkit.WithoutEncoding())
	remove := telemetry.AddSource(s, func() []telemetry.Family {
		return []telemetry.Family{{Name: "test_value", Series: []telemetry.Series{{Value: 1}}}}
	})
	has := func() bool {
		return slices.ContainsFunc(telemetry.Gather(s), func(f telemetry.Family) bool { return f.Name == "test_value" })
	}
	require.True(t, has())
	remove()
	remove()
	require.False(t, has())
}
