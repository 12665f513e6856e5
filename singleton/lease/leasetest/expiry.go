package leasetest

import (
	"time"

	"github.com/stretchr/testify/require"
)

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
