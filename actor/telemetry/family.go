package telemetry

import (
	"slices"
	"time"
)

// A Type says how the values of a family behave.
type Type uint8

// The types of families.
const (
	Gauge     Type = iota // may rise and fall
	Counter               // only grows while the process lives
	Histogram             // counts durations in buckets
)

// A Family is one metric: a name and its series, which differ in the values of the labels. Name and
// help follow the rules of Prometheus: the prefix "understudy_", base units, "_total" for counters.
// The values of labels come from small sets: kinds, reasons and names that the program itself has
// chosen, never paths or IDs of single actors.
type Family struct {
	Name   string
	Help   string // one sentence
	Type   Type
	Labels []string // their names
	Series []Series
}

// A Series is a value of a family.
type Series struct {
	Labels    []string // their values, in the order of [Family.Labels]
	Value     float64  // of a gauge or a counter
	Durations Durations
}

// Durations are the values of a histogram.
type Durations struct {
	Count   uint64
	Sum     time.Duration
	Buckets []Bucket // by rising bound, without the one that takes all
}

// A Bucket counts the durations up to a bound, with those of the buckets before it.
type Bucket struct {
	Bound time.Duration
	Count uint64
}

func distribution(count uint64, sum time.Duration, atMost func(time.Duration) uint64, bounds []time.Duration) Durations {
	d := Durations{Count: count, Sum: sum, Buckets: make([]Bucket, len(bounds))}
	for i, bound := range bounds {
		d.Buckets[i] = Bucket{bound, atMost(bound)}
	}
	return d
}

// Add adds a series with the values of the labels.
func (f *Family) Add(value float64, labels ...string) {
	f.Series = append(f.Series, Series{Labels: labels, Value: value})
}

// AddDurations adds a series of a histogram with the values of the labels. count and sum are of all
// durations, and atMost returns how many were at most d. The bounds are powers of four of about a
// microsecond to 17 seconds, which suit everything from handlers to hand-overs.
func (f *Family) AddDurations(count uint64, sum time.Duration, atMost func(d time.Duration) uint64, labels ...string) {
	f.Series = append(f.Series, Series{Labels: labels, Durations: distribution(count, sum, atMost, fine)})
}

var fine = bounds(2)

// The bounds are 2^14, 2^18, … 2^34 nanoseconds: 16 µs, 262 µs, 4 ms, 67 ms, 1 s and 17 s.
var coarse = bounds(4)[1:]

func bounds(step int) (all []time.Duration) {
	for bit := 10; bit <= 34; bit += step {
		all = append(all, 1<<bit)
	}
	return all
}

// NewGauge returns a gauge without series. labels are the names of its labels.
func NewGauge(name, help string, labels ...string) Family {
	return Family{Name: name, Help: help, Type: Gauge, Labels: labels}
}

// NewCounter returns a counter without series. labels are the names of its labels.
func NewCounter(name, help string, labels ...string) Family {
	return Family{Name: name, Help: help, Type: Counter, Labels: labels}
}

// NewHistogram returns a histogram without series. labels are the names of its labels.
func NewHistogram(name, help string, labels ...string) Family {
	return Family{Name: name, Help: help, Type: Histogram, Labels: labels}
}

// With returns f with one more series, of value and the values of the labels. It does not change f.
func (f Family) With(value float64, labels ...string) Family {
	f.Series = slices.Clip(f.Series)
	f.Add(value, labels...)
	return f
}

// Bool returns 1 if yes, and 0 otherwise: the value of a gauge that is on or off.
func Bool(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
