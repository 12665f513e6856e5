// Package telemetrytest has what tests of metrics need.
//
// This package is experimental: a minor release may change it.
package telemetrytest

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/actor/telemetry"
)

// Value returns the value of the series of s with that name and those values of labels, without a
// fraction; of a histogram it is the count. The test fails unless the series exists.
func Value(t testing.TB, s *actor.System, name string, labels ...string) int {
	t.Helper()
	series, ok := find(s, name, labels)
	require.True(t, ok, "%s%v", name, labels)
	return int(series.Value) + int(series.Durations.Count) //nolint:gosec // a test counts little
}

// Has reports whether s has a series with that name and those values of labels.
func Has(s *actor.System, name string, labels ...string) bool {
	_, ok := find(s, name, labels)
	return ok
}

func find(s *actor.System, name string, labels []string) (telemetry.Series, bool) {
	for _, f := range telemetry.Gather(s) {
		if f.Name != name {
			continue
		}
		if i := slices.IndexFunc(f.Series, func(s telemetry.Series) bool { return slices.Equal(s.Labels, labels) }); i >= 0 {
			return f.Series[i], true
		}
	}
	return telemetry.Series{}, false
}

var (
	nameForm  = regexp.MustCompile(`^understudy_[a-z]+(_[a-z]+)*$`)
	labelForm = regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	unitForm  = regexp.MustCompile(`_(milliseconds|minutes|hours|kilobytes|megabytes|percent)(_|$)`)
)

// Check fails the test unless each family of s follows the rules of Prometheus, the sources agree
// about families that they share, and no two series of a family have the same labels.
func Check(t testing.TB, s *actor.System) {
	t.Helper()
	var all []telemetry.Family
	for _, source := range telemetry.Sources(s) {
		all = append(all, source()...)
	}
	agree(t, all)
	gathered := telemetry.Gather(s)
	agree(t, gathered)
	for _, f := range gathered {
		seen := map[string]bool{}
		for _, one := range f.Series {
			labels := strings.Join(one.Labels, "\x00")
			require.False(t, seen[labels], "%s%v twice", f.Name, one.Labels)
			seen[labels] = true
		}
	}
}

func agree(t testing.TB, all []telemetry.Family) {
	t.Helper()
	known := map[string]telemetry.Family{}
	for _, f := range all {
		check(t, f)
		before, twice := known[f.Name]
		if twice {
			require.Equal(t, before.Help, f.Help, f.Name)
			require.Equal(t, before.Type, f.Type, f.Name)
			require.Equal(t, before.Labels, f.Labels, f.Name)
		}
		known[f.Name] = f
	}
}

func check(t testing.TB, f telemetry.Family) {
	t.Helper()
	require.Regexp(t, nameForm, f.Name)
	require.NotRegexp(t, unitForm, f.Name, "base units")
	require.Equal(t, f.Type == telemetry.Counter, strings.HasSuffix(f.Name, "_total"), "%s: _total is for counters", f.Name)
	require.NotRegexp(t, `_(count|sum|bucket)$`, f.Name, "reserved for histograms")
	if f.Type == telemetry.Histogram {
		require.True(t, strings.HasSuffix(f.Name, "_seconds"), "%s: a histogram of durations", f.Name)
	}
	require.Regexp(t, `^[A-Z0-9][^.]*\.$`, f.Help, "%s: one sentence", f.Name)
	for _, label := range f.Labels {
		require.Regexp(t, labelForm, label, f.Name)
		require.NotContains(t, []string{"le", "quantile", "job", "instance"}, label, "%s: Prometheus sets it", f.Name)
	}
	for _, s := range f.Series {
		require.Len(t, s.Labels, len(f.Labels), f.Name)
		require.Equal(t, f.Type == telemetry.Histogram, s.Durations.Buckets != nil, f.Name)
	}
}
