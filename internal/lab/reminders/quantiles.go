package reminders

import (
	"fmt"
	"slices"
	"time"
)

// quantiles returns the median, the 99th percentile and the maximum as text.
func quantiles(of []time.Duration) string {
	if len(of) == 0 {
		return "none was delivered"
	}
	slices.Sort(of)
	at := func(percent int) time.Duration {
		return of[min(len(of)*percent/100, len(of)-1)].Round(time.Millisecond)
	}
	return fmt.Sprintf("p50 %v, p99 %v, max %v, of %d", at(50), at(99), at(100), len(of))
}
