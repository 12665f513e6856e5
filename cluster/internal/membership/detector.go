package membership

import (
	"cmp"
	"fmt"
	"time"

	"github.com/understudy-go/understudy/cluster/downing"
	"github.com/understudy-go/understudy/cluster/internal/phi"
)

// A Detector is cluster.Detector, which documents the fields.
type Detector struct {
	Interval    time.Duration
	CheckEvery  time.Duration
	Threshold   float64
	Pause       time.Duration
	MinStdDev   time.Duration
	Samples     int
	ExpectAfter time.Duration
	KeepRefused bool
	StreamDead  time.Duration
}

// LAN suits local networks: a killed node is unreachable after about 0.8 seconds.
func LAN() Detector {
	return Detector{
		Interval:    100 * time.Millisecond,
		CheckEvery:  50 * time.Millisecond,
		Threshold:   8,
		Pause:       600 * time.Millisecond,
		MinStdDev:   20 * time.Millisecond,
		Samples:     1000,
		ExpectAfter: time.Second,
		StreamDead:  5 * time.Second,
	}
}

// WAN suits long or lossy lines and noisy neighbours: a killed node is unreachable after about
// four seconds.
func WAN() Detector {
	return Detector{
		Interval:    500 * time.Millisecond,
		CheckEvery:  100 * time.Millisecond,
		Threshold:   8,
		Pause:       3 * time.Second,
		MinStdDev:   100 * time.Millisecond,
		Samples:     1000,
		ExpectAfter: 2 * time.Second,
		StreamDead:  15 * time.Second,
	}
}

// Local suits nodes on one machine, as in tests: a killed node is unreachable after about 0.6
// seconds. On a network it would suspect members more often than LAN does.
func Local() Detector {
	return Detector{
		Interval:    50 * time.Millisecond,
		CheckEvery:  25 * time.Millisecond,
		Threshold:   8,
		Pause:       500 * time.Millisecond,
		MinStdDev:   20 * time.Millisecond,
		Samples:     1000,
		ExpectAfter: time.Second,
		StreamDead:  5 * time.Second,
	}
}

// WithDefaults returns d with the values of [LAN] for fields that are zero.
func WithDefaults(d Detector) Detector {
	lan := LAN()
	return Detector{
		Interval:    cmp.Or(d.Interval, lan.Interval),
		CheckEvery:  cmp.Or(d.CheckEvery, lan.CheckEvery),
		Threshold:   cmp.Or(d.Threshold, lan.Threshold),
		Pause:       cmp.Or(d.Pause, lan.Pause),
		MinStdDev:   cmp.Or(d.MinStdDev, lan.MinStdDev),
		Samples:     cmp.Or(d.Samples, lan.Samples),
		ExpectAfter: cmp.Or(d.ExpectAfter, lan.ExpectAfter),
		StreamDead:  cmp.Or(d.StreamDead, lan.StreamDead),
		KeepRefused: d.KeepRefused,
	}
}

// CheckDetector returns an error if settings of d are invalid together. The error suggests
// values.
func CheckDetector(d Detector) error {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("cluster: Config.Detector: "+format, args...)
	}
	switch {
	case d.Interval <= 0 || d.CheckEvery <= 0 || d.ExpectAfter <= 0 || d.StreamDead <= 0:
		return refuse("Interval %v, CheckEvery %v, ExpectAfter %v and StreamDead %v must be positive", d.Interval, d.CheckEvery, d.ExpectAfter, d.StreamDead)
	case d.CheckEvery > d.Interval:
		return refuse("CheckEvery %v must not exceed Interval %v, as heartbeats are sent when it is time to look; %v would do", d.CheckEvery, d.Interval, d.Interval/2)
	case d.Pause < 2*d.Interval:
		return refuse("Pause %v is shorter than two Intervals of %v, so that the loss of one heartbeat could make a member unreachable; %v would do", d.Pause, d.Interval, 6*d.Interval)
	case d.ExpectAfter < 2*d.Interval:
		return refuse("ExpectAfter %v must be at least two Intervals of %v, or new members are missed before they can speak; %v would do", d.ExpectAfter, d.Interval, 10*d.Interval)
	}
	if err := d.phi().Validate(); err != nil {
		return refuse("%w", err)
	}
	if silence := d.phi().Silence(d.Interval); d.StreamDead <= silence {
		return refuse("StreamDead %v must exceed the silence of %v that follows from Interval, Pause, Threshold and MinStdDev; %v would do", d.StreamDead, silence.Round(time.Millisecond), (6*silence).Truncate(time.Second)+time.Second)
	}
	return nil
}

func (d Detector) phi() phi.Settings {
	return phi.Settings{Threshold: d.Threshold, Pause: d.Pause, MinStdDev: d.MinStdDev, Samples: d.Samples, FirstInterval: d.Interval}
}

// guard returns how late a check may be. If it is later, this node itself was paused.
func (d Detector) guard() time.Duration {
	return max(3*d.Interval, 3*d.CheckEvery)
}

// overdue returns the silence after which a subject is asked for a heartbeat.
func (d Detector) overdue() time.Duration { return 2 * d.Interval }

// detection returns the longest time from the death of a member until it is unreachable, on a
// quiet network.
func (d Detector) detection() time.Duration {
	return d.phi().Silence(d.Interval) + d.CheckEvery
}

// usualDetection returns the average detection time. On average a member dies in the middle
// between two heartbeats, and its death is found in the middle between two checks.
func (d Detector) usualDetection() time.Duration {
	return d.phi().Silence(d.Interval) - d.Interval/2 + d.CheckEvery/2
}

// spread returns the time within which all members learn of one failure. The missed heartbeats
// and the checks that miss them come at different moments. A row that did not arrive is
// requested after two heartbeats have differed.
func (d Detector) spread() time.Duration {
	return d.Interval + d.CheckEvery + 3*d.Interval
}

// secondWave returns how much later than the first deaths the others are noticed, if all
// observers of a dead member have died with it. The ring continues past the dead members, so
// the next members are observed only from then on.
func (d Detector) secondWave() time.Duration {
	return d.ExpectAfter + d.phi().Silence(d.Interval) + d.CheckEvery + 2*d.Interval
}

// StableAfter returns the delay of a strategy that suits d. It outlasts a second wave, so that
// the whole extent of a failure is known when the strategy decides.
func StableAfter(d Detector) time.Duration {
	return max(downing.DefaultStableAfter, d.secondWave().Truncate(time.Second)+time.Second)
}

// CheckDelay returns an error if s decides before all members can know the same.
func CheckDelay(d Detector, s downing.Strategy) error {
	if s.Delay() < 0 || s.Delay() > d.spread() {
		return nil
	}
	return fmt.Errorf("cluster: Config.Downing: %v decides when nothing has changed for %v, but with Config.Detector (Interval %v, CheckEvery %v) members may learn of one failure %v apart; let it wait for %v (StableAfter), or make Detector.Interval shorter",
		s, s.Delay(), d.Interval, d.CheckEvery, d.spread(), StableAfter(d))
}

// DetectionTimes returns how long after its death a member is unreachable on a quiet network:
// on average, and at worst.
func DetectionTimes(d Detector) (usual, worst time.Duration) {
	return d.usualDetection(), d.detection()
}
