package phi

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Settings configure how quickly a [Detector] suspects its subject. All fields except Pause
// must be set; the zero value is not valid.
type Settings struct {
	// Threshold is the phi at which the subject stops being available. It must be positive and
	// finite.
	Threshold float64
	// Pause is the silence that is accepted on top of the mean interval: garbage collections,
	// lost datagrams, retransmissions. It must not be negative. It determines the detection
	// time much more than Threshold does.
	Pause time.Duration
	// MinStdDev is the lowest standard deviation that the detector assumes. It must be
	// positive. Without it a delay of one millisecond would be suspicious after very regular
	// heartbeats.
	MinStdDev time.Duration
	// Samples is the number of intervals that the detector remembers, at least 2.
	Samples int
	// FirstInterval is the interval that the detector assumes at the first heartbeat, before it
	// has measured one. It must be positive.
	FirstInterval time.Duration
}

// Validate returns an error that describes the first invalid field of s, or nil.
func (s Settings) Validate() error {
	switch {
	case s.Threshold <= 0 || math.IsInf(s.Threshold, 0) || math.IsNaN(s.Threshold):
		return fmt.Errorf("phi: threshold %v must be a positive number", s.Threshold)
	case s.Pause < 0:
		return fmt.Errorf("phi: acceptable pause %v must not be negative", s.Pause)
	case s.MinStdDev <= 0:
		return fmt.Errorf("phi: minimum standard deviation %v must be positive", s.MinStdDev)
	case s.Samples < 2:
		return errors.New("phi: at least two samples must be remembered")
	case s.FirstInterval <= 0:
		return fmt.Errorf("phi: first interval %v must be positive", s.FirstInterval)
	}
	return nil
}

// Silence returns how long a subject must be silent until it is no longer available, if its
// heartbeats came regularly every interval, as on a quiet network.
func (s Settings) Silence(interval time.Duration) time.Duration {
	return interval + s.Pause + time.Duration(deviations(s.Threshold)*float64(s.MinStdDev))
}
