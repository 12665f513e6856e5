package cluster

import "time"

// long returns how long a test lets nodes run: d, or a twelfth of it under the race detector.
// make test also runs it without the detector.
func long(d time.Duration) time.Duration {
	if underRace {
		return d / 12
	}
	return d
}
