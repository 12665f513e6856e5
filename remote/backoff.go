package remote

import (
	"math/rand/v2"
	"time"
)

// backoff returns how long to wait after so many failures in a row: from low on, twice as
// long each time, up to high; with a fifth more or less by chance, so that the peers of
// a node that returns do not all come at once.
func backoff(failures int, low, high time.Duration) time.Duration {
	pause := high
	if shift := failures - 1; shift < 30 && low<<shift < high {
		pause = low << shift
	}
	return time.Duration(float64(pause) * (0.8 + 0.4*rand.Float64()))
}

// sleep waits, and returns false when done is closed by then.
func sleep(done <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-done:
	}
	return !isClosed(done)
}

func isClosed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}
