package clustertest

import (
	"sync"
	"time"

	"github.com/understudy-go/understudy/cluster"
)

// A clock may run fast or slow, and its wall clock may be wrong.
type clock struct {
	mu      sync.Mutex // guards all below
	real    time.Time  // of the last change of rate
	shown   time.Time  // what it showed then
	rate    float64
	ahead   time.Duration // of the wall clock
	tickers map[*time.Ticker]time.Duration
}

var _ cluster.Clock = (*clock)(nil)

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

func (c *clock) now() time.Time {
	return c.shown.Add(time.Duration(float64(time.Since(c.real)) * c.rate))
}

func (c *clock) Wall() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now().Add(c.ahead)
}

func (c *clock) NewTicker(d time.Duration) (ticks <-chan time.Time, stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := time.NewTicker(c.inRealTime(d))
	c.tickers[t] = d
	return t.C, func() { c.drop(t) }
}

func (c *clock) drop(t *time.Ticker) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t.Stop()
	delete(c.tickers, t)
}

func (c *clock) inRealTime(d time.Duration) time.Duration {
	return max(1, time.Duration(float64(d)/c.rate))
}

func (c *clock) run(rate float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shown, c.real, c.rate = c.now(), time.Now(), rate
	for t, d := range c.tickers {
		t.Reset(c.inRealTime(d))
	}
}

func (c *clock) step(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
}
