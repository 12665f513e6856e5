package cluster

import (
	"fmt"
	"time"

	"github.com/understudy-go/understudy/cluster/downing"
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
	e := Expectation{
		Detection:        c.Detector.usualDetection(),
		WorstDetection:   c.Detector.detection(),
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

// usualDetection is detection on average: death comes somewhere between two heartbeats,
// and its discovery somewhere between two looks.
func (d Detector) usualDetection() time.Duration {
	return d.phi().Silence(d.Interval) - d.Interval/2 + d.CheckEvery/2
}

// spread is within how long all members know of one failure: the heartbeats that are missed
// and the looks that miss them come in different moments, and a row that did not arrive is
// asked for when two heartbeats have differed.
func (d Detector) spread() time.Duration {
	return d.Interval + d.CheckEvery + 3*d.Interval
}

// secondWave is how much later than the first deaths those are noticed whose observers
// have all died with them: the ring goes on past the dead, and the next ones are observed
// from then on.
func (d Detector) secondWave() time.Duration {
	return d.ExpectAfter + d.phi().Silence(d.Interval) + d.CheckEvery + 2*d.Interval
}

// stableAfter is the delay of a strategy that suits d: it outlasts a second wave, so the
// whole extent of a failure is known when the strategy decides.
func (d Detector) stableAfter() time.Duration {
	return max(downing.DefaultStableAfter, d.secondWave().Truncate(time.Second)+time.Second)
}

// suits says what is wrong when a strategy decides before all members can know the same.
func (d Detector) suits(s Downing) error {
	if s.Delay() < 0 || s.Delay() > d.spread() {
		return nil
	}
	return fmt.Errorf("cluster: Config.Downing: %v decides when nothing has changed for %v, but with Config.Detector (Interval %v, CheckEvery %v) members may learn of one failure %v apart; let it wait for %v (StableAfter), or make Detector.Interval shorter",
		s, s.Delay(), d.Interval, d.CheckEvery, d.spread(), d.stableAfter())
}
