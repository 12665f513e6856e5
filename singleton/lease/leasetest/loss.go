package leasetest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/singleton/lease"
)

var lossLaws = []law{
	{name: "AHolderStepsDownBeforeOthersMayTakeIt", check: func(e *env) {
		stepsDown(e, (*link).cut)
	}},
	{name: "AHolderWhoseRequestsHangStepsDownBeforeOthersMayTakeIt", check: func(e *env) {
		stepsDown(e, (*link).stall)
	}},
	{name: "AHolderWhoseStoreIsDeafStepsDownBeforeOthersMayTakeIt", check: func(e *env) {
		stepsDown(e, (*link).stallDeaf)
	}},
	{name: "AnOutageOfTheBackendEndsALease", alone: true, check: func(e *env) {
		e.need(e.backend.Outage != nil, "Outage")
		a := e.holder(e.name("x"), "a")
		e.acquired(a)
		end := e.backend.Outage(e.T)
		start := time.Now()
		e.loses(a, e.ttl+e.slack, lease.ErrExpired)
		require.Less(e, time.Since(start), e.ttl+e.slack)
		held, err := a.Acquire(e.Context())
		require.Error(e, err, "nobody knows")
		require.False(e, held)
		end()
		before := a.Token()
		e.eventually(e.ttl+5*e.slack, "the backend is back, and the lease is not", func() bool {
			ok, err := a.Acquire(e.Context())
			return err == nil && ok
		})
		require.Greater(e, a.Token(), before)
		require.Len(e, a.lost(), 1)
	}},
	{name: "ADeadHolderIsSucceededInTime", check: func(e *env) {
		name := e.name("x")
		a, b := e.holder(name, "a"), e.holder(name, "b")
		e.acquired(a)
		a.link.cut()
		e.acquires(b, e.ttl+e.slack)
		require.Greater(e, b.Token(), a.Token())
		require.False(e, a.Valid())
	}},
	{name: "AUsurperIsNoticedByTheNextRenewal", check: func(e *env) {
		e.need(e.backend.Usurp != nil, "Usurp")
		name := e.name("x")
		a := e.holder(name, "a")
		e.acquired(a)
		e.backend.Usurp(e.T, name)
		e.loses(a, e.ttl/2+e.slack, lease.ErrLost)
		n := a.link.count()
		require.NoError(e, a.Release(e.Context()))
		require.Equal(e, n, a.link.count(), "there is nothing to give back")
	}},
	{name: "ADeletionIsNoticedByTheNextRenewal", check: func(e *env) {
		e.need(e.backend.Delete != nil, "Delete")
		name := e.name("x")
		a, b := e.holder(name, "a"), e.holder(name, "b")
		e.acquired(a)
		e.backend.Delete(e.T, name)
		e.loses(a, e.ttl/2+e.slack, lease.ErrLost)
		e.acquired(b)
		require.Greater(e, b.Token(), a.Token())
	}},
	{name: "ALostLeaseIsAcquiredAgainWithAGreaterToken", check: func(e *env) {
		a := e.holder(e.name("x"), "a")
		e.acquired(a)
		before := a.Token()
		a.link.cut()
		e.loses(a, e.ttl+e.slack, lease.ErrExpired)
		a.link.heal()
		e.acquired(a)
		require.Greater(e, a.Token(), before)
		e.sleep(e.ttl)
		require.True(e, a.Valid())
		require.Len(e, a.lost(), 1)
	}},
}

// stepsDown breaks the link of a holder, and looks at whether it knows before another has
// the lease.
func stepsDown(e *env, fault func(*link)) {
	name := e.name("x")
	a, b := e.holder(name, "a"), e.open()
	e.acquired(a)
	e.sleep(e.ttl)
	fault(a.link)
	e.takeover(b, e.claim(name, "b"), 2*e.ttl+e.slack)
	require.False(e, a.Valid(), "another holds it, and the former holder does not know")
	e.loses(a, e.slack, lease.ErrExpired)
	a.link.heal()
	e.denied(a)
	require.NoError(e, a.Release(e.Context()))
	e.refused(b, e.claim(name, "c"))
}

var expiryLaws = []law{
	{name: "ARenewedLeaseStays", check: func(e *env) {
		a, b, name := e.open(), e.open(), e.name("x")
		g := e.take(a, e.claim(name, "a"))
		rival := e.claim(name, "b")
		for range 10 {
			e.sleep(e.ttl / 4)
			g = e.renew(a, g)
			e.refused(b, rival)
		}
	}},
	{name: "ALeaseThatIsNotRenewedExpiresInTime", check: func(e *env) {
		a, b, name := e.open(), e.open(), e.name("x")
		sent := time.Now()
		old := e.take(a, e.claim(name, "a"))
		answered := time.Now()
		next := e.takeover(b, e.claim(name, "b"), e.ttl+e.slack)
		require.GreaterOrEqual(e, time.Since(sent), e.ttl*9/10, "it was taken before its time was over")
		require.LessOrEqual(e, time.Since(answered), e.ttl+e.slack)
		require.Greater(e, next.Token, old.Token)
	}},
	{name: "AnExpiredLeaseThatOthersTookIsNotRenewed", check: func(e *env) {
		a, b, name := e.open(), e.open(), e.name("x")
		old := e.take(a, e.claim(name, "a"))
		next := e.takeover(b, e.claim(name, "b"), e.ttl+e.slack)
		require.ErrorContains(e, e.gone(a, old), next.Holder, "the reason of a loss names the holder")
		e.release(a, old)
		e.refused(a, e.claim(name, "a"))
		e.renew(b, next)
	}},
	{name: "AnExpiredLeaseThatNobodyTookIsNotRenewed", check: func(e *env) {
		a, name := e.open(), e.name("x")
		g := e.take(a, e.claim(name, "a"))
		e.sleep(e.ttl + e.slack)
		_ = e.gone(a, g)
		c := g.Claim
		c.Floor = g.Token
		e.take(a, c)
	}},
	{name: "ARenewalLastsFromThen", check: func(e *env) {
		a, b, name := e.open(), e.open(), e.name("x")
		g := e.take(a, e.claim(name, "a"))
		e.sleep(e.ttl / 2)
		sent := time.Now()
		e.renew(a, g)
		e.takeover(b, e.claim(name, "b"), e.ttl+e.slack)
		require.GreaterOrEqual(e, time.Since(sent), e.ttl*9/10, "the renewal did not last for the whole TTL")
	}},
}
