package bench

import (
	"fmt"
	"time"
)

// SkynetBranches is how many children each actor of skynet has.
const SkynetBranches = 10

// CheckSkynet panics unless sum is the sum of all numbers below leaves.
func CheckSkynet(leaves, sum int) {
	if want := leaves * (leaves - 1) / 2; sum != want {
		panic(fmt.Sprintf("skynet says %d, not %d", sum, want))
	}
}

// TimerDelay spreads timers over a second, after a pause in which all are started.
func TimerDelay(k, of int) time.Duration {
	return 500*time.Millisecond + time.Duration(k)*time.Second/time.Duration(of)
}
