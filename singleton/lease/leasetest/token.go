package leasetest

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/singleton/lease"
)

var tokenLaws = []law{
	{name: "TokensGrowOverReleases", check: func(e *env) {
		a, b, name := e.open(), e.open(), e.name("x")
		last := uint64(0)
		for range 10 {
			for _, s := range []lease.Store{a, b} {
				g := e.take(s, e.claim(name, "a"))
				require.Greater(e, g.Token, last)
				last = g.Token
				e.release(s, g)
			}
		}
	}},
	{name: "TokensGrowForOneHolder", check: func(e *env) {
		s := e.open()
		c := e.claim(e.name("x"), "a")
		for range 5 {
			g := e.take(s, c)
			e.release(s, g)
			c.Floor = g.Token
		}
	}},
	{name: "TokensGrowOverDeletions", check: func(e *env) {
		e.need(e.backend.Delete != nil, "Delete")
		s, name := e.open(), e.name("x")
		last := uint64(0)
		for range 5 {
			g := e.take(s, e.claim(name, "a"))
			require.Greater(e, g.Token, last)
			last = g.Token
			e.backend.Delete(e.T, name)
			_ = e.gone(s, g)
		}
		g := e.take(e.open(), e.claim(name, "a"))
		require.Greater(e, g.Token, last)
	}},
	{name: "TokensGrowOverAUsurper", check: func(e *env) {
		e.need(e.backend.Usurp != nil, "Usurp")
		s, name := e.open(), e.name("x")
		g := e.take(s, e.claim(name, "a"))
		e.backend.Usurp(e.T, name)
		_ = e.gone(s, g)
	}},
	{name: "TheFloorIsRespected", check: func(e *env) {
		a, b, name := e.open(), e.open(), e.name("x")
		c := e.claim(name, "a")
		c.Floor = 1_000_000
		g := e.take(a, c)
		e.release(a, g)
		next := e.take(b, e.claim(name, "b"))
		require.Greater(e, next.Token, g.Token, "later tokens go on from there")
	}},
	{name: "TheFloorIsRespectedWhileItIsHeld", check: func(e *env) {
		a, b, name := e.open(), e.open(), e.name("x")
		c := e.claim(name, "a")
		old := e.take(a, c)
		c.Floor = old.Token + 5
		g := e.take(a, c)
		e.refused(b, e.claim(name, "b"))
		e.release(a, old) // of no token that is held
		e.refused(b, e.claim(name, "b"))
		e.renew(a, g)
	}},
}

// TokensEnd raises a lease of store to its last token by a floor. It requires that the next
// acquisition fails with overflow, and that no lower token is granted. The lease has the name of t.
func TokensEnd(t *testing.T, store lease.Store, overflow error) {
	t.Helper()
	c := lease.Claim{Name: t.Name(), Holder: "a", TTL: time.Minute, Floor: math.MaxUint64}
	_, err := store.Take(t.Context(), c)
	require.ErrorIs(t, err, overflow)
	c.Floor--
	grant, err := store.Take(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, uint64(math.MaxUint64), grant.Token)
	require.NoError(t, store.Release(t.Context(), grant))
	_, err = store.Take(t.Context(), lease.Claim{Name: t.Name(), Holder: "b", TTL: time.Minute})
	require.ErrorIs(t, err, overflow)
}
