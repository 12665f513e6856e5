package cluster

import (
	"time"

	"github.com/understudy-go/understudy/cluster/membership"
)

// An Expectation is what follows from a [Config], on a quiet network of any size: how long
// after the death of a node what happens.
type Expectation struct {
	// Detection is after how long a node that has died with its host is unreachable for
	// those who observe it, as a rule. Where the host lives and refuses connections, it
	// takes about one [Detector].Interval.
	Detection time.Duration

	// WorstDetection is the longest that this takes. Whoever does not observe it itself
	// knows it a moment later.
	WorstDetection time.Duration

	// Downing is when the node is down, at the latest: the situation has been stable for as
	// long as the strategy asks. Negative if the strategy takes nobody down by itself.
	Downing time.Duration

	// FailoverFenced is when a singleton that ran there starts elsewhere, at the latest, if
	// its journal fences the old instance. Its own recovery comes on top. Negative if never.
	FailoverFenced time.Duration

	// FailoverUnfenced is the same for one that nothing fences: what may still run on a node
	// that is only cut off gets time to notice and to stop. Negative if never.
	FailoverUnfenced time.Duration
}

// Expected returns what to expect of c. It is a function of Detector and Downing alone,
// with their defaults where they are not set; it is logged when a node starts.
func (c Config) Expected() Expectation {
	c = c.withDefaults()
	usual, worst := membership.DetectionTimes(c.Detector)
	e := Expectation{
		Detection:        usual,
		WorstDetection:   worst,
		Downing:          -1,
		FailoverFenced:   -1,
		FailoverUnfenced: -1,
	}
	if c.Downing.Delay() >= 0 {
		e.Downing = e.WorstDetection + c.Downing.Delay() + c.Detector.CheckEvery
		e.FailoverFenced = e.Downing + 2*c.Detector.Interval
		e.FailoverUnfenced = e.FailoverFenced + c.margin()
	}
	return e
}

// orNever is a time of an Expectation for people.
func orNever(d time.Duration) string {
	if d < 0 {
		return "never"
	}
	return d.Round(time.Millisecond).String()
}
