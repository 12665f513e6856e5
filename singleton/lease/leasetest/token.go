package leasetest

import (
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
