package leasetest

import (
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/singleton/lease"
)

var clockLaws = []law{
	{name: "APausedHolderKnowsAtOnceThatItsLeaseIsOver", check: func(e *env) {
		stopped(e, false)
	}},
	{name: "ASuspendedMachineKnowsAtOnceThatItsLeaseIsOver", check: func(e *env) {
		stopped(e, true)
	}},
	{name: "AWallClockThatIsSetBackMakesNoLeaseLonger", check: func(e *env) {
		name := e.name("x")
		clock := newClock(1, 0)
		a, b := e.holder(name, "a", with(clock)), e.open()
		e.acquired(a)
		e.sleep(e.ttl)
		require.True(e, a.Valid())
		a.link.cut()
		clock.step(-time.Hour)
		e.takeover(b, e.claim(name, "b"), 2*e.ttl+e.slack)
		require.False(e, a.Valid())
	}},
	{name: "AWallClockThatIsSetForwardEndsALease", check: func(e *env) {
		clock := newClock(1, 0)
		a := e.holder(e.name("x"), "a", with(clock))
		e.acquired(a)
		clock.step(time.Hour)
		require.False(e, a.Valid())
		e.loses(a, e.slack, lease.ErrExpired)
		e.acquired(a)
		e.sleep(2 * e.ttl)
		require.True(e, a.Valid())
	}},
	{name: "ASlowHolderStepsDownBeforeOthersMayTakeIt", check: func(e *env) {
		name := e.name("x")
		a, b := e.holder(name, "a", with(newClock(0.9, -time.Hour))), e.open()
		e.acquired(a)
		e.sleep(e.ttl)
		require.True(e, a.Valid())
		a.link.cut()
		e.takeover(b, e.claim(name, "b"), 2*e.ttl+e.slack)
		require.False(e, a.Valid(), "another holds it, and the former holder does not know")
	}},
	{name: "AFastHolderKeepsItsLease", check: func(e *env) {
		name := e.name("x")
		a, b := e.holder(name, "a", with(newClock(1.1, time.Hour))), e.holder(name, "b")
		e.acquired(a)
		for range 6 {
			e.sleep(e.ttl / 2)
			require.True(e, a.Valid())
			e.denied(b)
		}
		require.Empty(e, a.lost())
	}},
}

// with gives a holder a clock that may be wrong by a tenth.
func with(c *skewedClock) func(*lease.Settings) {
	return func(s *lease.Settings) { s.Clock, s.Drift = c, 0.1 }
}

// stopped stops a holder for so long that another has its lease when it goes on.
func stopped(e *env, suspended bool) {
	name := e.name("x")
	clock := newClock(1, 0)
	a, b := e.holder(name, "a", with(clock)), e.open()
	e.acquired(a)
	clock.pause()
	a.link.stall()
	e.sleep(e.ttl / 10)
	e.takeover(b, e.claim(name, "b"), e.ttl*2+e.slack)
	a.link.heal()
	clock.resume(suspended)
	require.False(e, a.Valid(), "another holds it, and the former holder goes on")
	e.eventually(e.ttl+e.slack, "it was not told", func() bool { return len(a.lost()) == 1 })
	e.denied(a)
}

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
