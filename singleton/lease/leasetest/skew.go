package leasetest

import (
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
