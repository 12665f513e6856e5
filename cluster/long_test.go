package cluster

import (
	"testing"
	"time"
)

// atLength skips a test that simulates machines for seconds, when it is under the race
// detector: it has one goroutine, and would take minutes. make test runs it without.
func atLength(t *testing.T) {
	t.Helper()
	if underRace {
		t.Skip("one goroutine cannot race: run it without -race")
	}
}

// long is a time in which a fleet just lives: d, but a twelfth of it under the race detector.
// make test runs the whole of it without.
func long(d time.Duration) time.Duration {
	if underRace {
		return d / 12
	}
	return d
}
