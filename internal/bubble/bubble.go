// Package bubble has what code does for tests that run it in a bubble of testing/synctest.
package bubble

import "time"

// Wait returns d, or a nanosecond if d is not positive. Timers are set with it: one that is due at
// once runs in the goroutine that sets it, and in a bubble several goroutines then break the race
// detector (golang/go#78156).
func Wait(d time.Duration) time.Duration { return max(d, 1) }
