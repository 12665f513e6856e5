package phi

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Settings say how quickly and how stubbornly a [Detector] becomes suspicious.
type Settings struct {
	// Threshold is the phi from which on the subject is not available any more.
	Threshold float64
	// Pause is the silence that is acceptable on top of the mean interval: garbage
	// collections, lost datagrams, retransmissions. It decides the detection time, much
	// more than the threshold does.
	Pause time.Duration
	// MinStdDev is the least standard deviation to reckon with; very regular heartbeats
	// would otherwise make a delay of a millisecond suspicious.
	MinStdDev time.Duration
	// Samples is how many intervals are remembered.
	Samples int
	// FirstInterval is the interval to assume until some have been seen.
	FirstInterval time.Duration
}

// Validate says what is wrong with s, or returns nil.
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

// Silence returns how long a subject whose heartbeats come every interval, as regularly
// as on a quiet network, must be silent until it is not available any more.
func (s Settings) Silence(interval time.Duration) time.Duration {
	return interval + s.Pause + time.Duration(deviations(s.Threshold)*float64(s.MinStdDev))
}
