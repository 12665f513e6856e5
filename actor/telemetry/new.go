package telemetry

import "slices"

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
