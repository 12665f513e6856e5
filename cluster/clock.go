package cluster

import "time"

// A Clock measures a node's time: the intervals of its heartbeats and checks, and the silence of
// other members. Tests of clocks that run fast or are set wrongly replace it; see package
// clustertest. Its methods may be called by any goroutine.
//
// Connections, actors and singletons use the clock of the operating system.
type Clock interface {
	// Now returns the time for measuring. It is monotonic and never jumps; its date has no meaning.
	Now() time.Time

	// Wall returns the calendar time, which an operator may set.
	Wall() time.Time

	// NewTicker returns a channel that delivers a tick every d until stop is called. It drops ticks
	// that nobody receives.
	NewTicker(d time.Duration) (ticks <-chan time.Time, stop func())
}

type systemClock struct{}

func (systemClock) Now() time.Time  { return time.Now() }
func (systemClock) Wall() time.Time { return time.Now() }

func (systemClock) NewTicker(d time.Duration) (ticks <-chan time.Time, stop func()) {
	t := time.NewTicker(d)
	return t.C, t.Stop
}

// inSystemTime converts a time of the node's clock to the clock of the operating system.
func (c Config) inSystemTime(at time.Time) time.Time {
	if c.Clock == (systemClock{}) {
		return at
	}
	return time.Now().Add(at.Sub(c.Clock.Now()))
}
