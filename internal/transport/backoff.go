package transport

import (
	"math/rand/v2"
	"time"
)

// backoff begins at low and doubles up to high, with a random change of ± 20 %, so that the peers
// of a returning node do not all connect at once.
func backoff(failures int, low, high time.Duration) time.Duration {
	pause := high
	if shift := failures - 1; shift < 30 && low<<shift < high {
		pause = low << shift
	}
	return time.Duration(float64(pause) * (0.8 + 0.4*rand.Float64()))
}

// False means that done is closed.
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
