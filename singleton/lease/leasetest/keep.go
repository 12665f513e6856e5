package leasetest

import (
	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/singleton/lease"
)

var keepLaws = []law{
	{name: "AHolderKeepsItsLease", check: func(e *env) {
		name := e.name("x")
		a, b := e.holder(name, "a"), e.holder(name, "b")
		e.acquired(a)
		for range 12 {
			e.sleep(e.ttl / 4)
			require.True(e, a.Valid())
			e.denied(b)
		}
		require.Empty(e, a.lost())
	}},
	{name: "WhoHoldsItIsToldSoWithoutARequest", check: func(e *env) {
		a := e.holder(e.name("x"), "a", func(s *lease.Settings) { s.Renewal = e.ttl / 2 })
		e.acquired(a)
		n := a.link.count()
		e.acquired(a)
		require.Equal(e, n, a.link.count())
	}},
	{name: "WithoutALeaseThereIsNoRequest", check: func(e *env) {
		a := e.holder(e.name("x"), "a")
		require.False(e, a.Valid())
		require.Zero(e, a.Token())
		require.NoError(e, a.Release(e.Context()))
		require.Zero(e, a.link.count())
	}},
	{name: "AnAcquireWhoseAnswerIsLostSucceeds", check: func(e *env) {
		name := e.name("x")
		a, b := e.holder(name, "a"), e.holder(name, "b")
		a.link.loseAnswers(1)
		e.acquired(a)
		e.denied(b)
	}},
	{name: "ARenewalWhoseAnswerIsLostIsRepeated", check: func(e *env) {
		name := e.name("x")
		a, b := e.holder(name, "a"), e.holder(name, "b")
		e.acquired(a)
		for range 4 {
			a.link.loseAnswers(1)
			e.sleep(e.ttl / 2)
			require.True(e, a.Valid())
			e.denied(b)
		}
		require.Empty(e, a.lost())
	}},
	{name: "AShortOutageIsBorne", check: func(e *env) {
		a := e.holder(e.name("x"), "a")
		e.acquired(a)
		for range 4 {
			a.link.cut()
			e.sleep(e.ttl * 2 / 5)
			a.link.heal()
			e.sleep(e.ttl / 5)
			require.True(e, a.Valid())
		}
		require.Empty(e, a.lost())
	}},
	{name: "ARequestThatHangsOnceIsBorne", check: func(e *env) {
		a := e.holder(e.name("x"), "a")
		e.acquired(a)
		a.link.stall()
		e.sleep(e.ttl * 2 / 5)
		a.link.heal()
		e.sleep(e.ttl)
		require.True(e, a.Valid())
		require.Empty(e, a.lost())
	}},
	{name: "SlowRequestsAreBorne", check: func(e *env) {
		a := e.holder(e.name("x"), "a", func(s *lease.Settings) { s.Renewal = e.ttl / 10 })
		e.acquired(a)
		a.link.slow(e.ttl / 5)
		e.sleep(3 * e.ttl)
		require.True(e, a.Valid())
		require.Empty(e, a.lost())
	}},
	{name: "ARestartOfTheBackendIsBorne", alone: true, check: func(e *env) {
		e.need(e.backend.Restart != nil, "Restart")
		name := e.name("x")
		a, b := e.holder(name, "a"), e.holder(name, "b")
		e.acquired(a)
		e.backend.Restart(e.T)
		e.sleep(2 * e.ttl)
		require.True(e, a.Valid())
		require.Empty(e, a.lost())
		e.denied(b)
	}},
	{name: "TwoOfOneOwnerDoNotHoldAtOnce", check: func(e *env) {
		name := e.name("x")
		a, b := e.holder(name, "a"), e.holder(name, "a")
		e.acquired(a)
		e.denied(b)
	}},
	{name: "AFloorMakesANewAcquisition", check: func(e *env) {
		name := e.name("x")
		a, b := e.holder(name, "a"), e.holder(name, "b")
		e.acquired(a)
		old := a.Token()
		ok, err := a.AcquireAbove(e.Context(), old)
		require.NoError(e, err)
		require.True(e, ok)
		require.Greater(e, a.Token(), old)
		require.True(e, a.Valid())
		e.denied(b)
		e.sleep(e.ttl)
		require.True(e, a.Valid())
		require.Empty(e, a.lost())
	}},
}
