package leasetest

import (
	"sync"
	"time"
)

// A skewedClock is a holder's clock that runs at another rate than the test's, shows another time
// of day, and stops while the holder is paused. It is a [lease.Clock].
type skewedClock struct {
	start  time.Time
	rate   float64
	offset time.Duration // of the time of day

	mu      sync.Mutex    // guards all below
	paused  chan struct{} // nil while it is not
	asleep  time.Duration // of steady, for how long the machine was suspended
	suspend time.Time     // since when it is
}

func newClock(rate float64, offset time.Duration) *skewedClock {
	return &skewedClock{start: time.Now(), rate: rate, offset: offset}
}

func (c *skewedClock) Now() (time.Duration, time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	since := time.Duration(float64(time.Since(c.start)) * c.rate)
	return since - c.asleep, c.start.Add(since + c.offset)
}

func (c *skewedClock) AfterFunc(d time.Duration, f func()) func() {
	const rounding = 2 // nanoseconds: a timer that is early by one is set again, for nothing
	t := time.AfterFunc(time.Duration(float64(d)/c.rate)+rounding, func() {
		c.mu.Lock()
		paused := c.paused
		c.mu.Unlock()
		if paused != nil {
			<-paused
		}
		f()
	})
	return func() { t.Stop() }
}

func (c *skewedClock) step(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offset += d
}

// pause holds up what waits for this clock, as SIGSTOP does; the clock itself goes on.
func (c *skewedClock) pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.paused, c.suspend = make(chan struct{}), time.Now()
}

// resume ends a pause. After a suspension the steady clock has stood still meanwhile.
func (c *skewedClock) resume(suspended bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if suspended {
		c.asleep += time.Duration(float64(time.Since(c.suspend)) * c.rate)
	}
	close(c.paused)
	c.paused = nil
}
