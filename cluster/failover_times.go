package cluster

import (
	"time"

	"github.com/understudy-go/understudy/cluster/internal/membership"
)

// An Expectation says how long after the death of a node each step of the failover comes, on a
// quiet network of any size. It follows from a [Config].
type Expectation struct {
	// Detection is when its observers usually find the node unreachable, if its host has died too.
	// If the host lives and refuses connections, it takes about one [Detector].Interval.
	Detection time.Duration

	// WorstDetection is the longest time that this takes. Other members learn of it a moment later.
	WorstDetection time.Duration

	// Downing is when the node is down, at the latest: the members and their reachability have not
	// changed for as long as the strategy asks. It is negative if the strategy never downs by
	// itself.
	Downing time.Duration

	// FailoverFenced is when a singleton that ran there starts elsewhere, at the latest, if its
	// journal fences the old instance. Its recovery comes on top. It is negative if that never
	// happens.
	FailoverFenced time.Duration

	// FailoverUnfenced is the same for an unfenced singleton. It includes the removal margin, in
	// which an instance on a node that is only cut off notices and stops. It is negative if that
	// never happens.
	FailoverUnfenced time.Duration
}

// Expected returns the times that follow from Detector and Downing of c, with the defaults of
// fields that are not set. A node logs them when it starts.
func (c Config) Expected() Expectation {
	c = c.withDefaults()
	usual, worst := membership.DetectionTimes(membership.Detector(c.Detector))
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

func orNever(d time.Duration) string {
	if d < 0 {
		return "never"
	}
	return d.Round(time.Millisecond).String()
}
