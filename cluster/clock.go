package cluster

import "time"

// A Clock is what a node measures its own time with: the rhythm of its heartbeats and
// checks, and how long others have been silent. Tests of clocks that run fast or are set
// wrongly replace it; see package clustertest. Its methods may be called by any goroutine.
//
// Connections, actors and singletons measure time by the operating system.
type Clock interface {
	// Now returns the time for measuring. It never goes back and never jumps; what it says
	// in years and hours means nothing.
	Now() time.Time

	// Wall returns the time of the calendar, which an operator may set.
	Wall() time.Time

	// NewTicker returns a channel that delivers a tick every d, and drops those that nobody
	// takes, until stop is called.
	NewTicker(d time.Duration) (ticks <-chan time.Time, stop func())
}

// systemClock is the operating system's.
type systemClock struct{}

func (systemClock) Now() time.Time  { return time.Now() }
func (systemClock) Wall() time.Time { return time.Now() }

func (systemClock) NewTicker(d time.Duration) (ticks <-chan time.Time, stop func()) {
	t := time.NewTicker(d)
	return t.C, t.Stop
}

// inSystemTime translates a time of the node's clock for those who measure by the
// operating system's.
func (c Config) inSystemTime(at time.Time) time.Time {
	if c.Clock == (systemClock{}) {
		return at
	}
	return time.Now().Add(at.Sub(c.Clock.Now()))
}
