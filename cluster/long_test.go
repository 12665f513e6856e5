package cluster

import "time"

// long is a time in which a fleet just lives: d, but a twelfth of it under the race detector.
// make test runs the whole of it without.
func long(d time.Duration) time.Duration {
	if underRace {
		return d / 12
	}
	return d
}
