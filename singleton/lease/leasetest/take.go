package leasetest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/singleton/lease"
)

var takeLaws = []law{
	{name: "AFreeLeaseIsTaken", check: func(e *env) {
		s := e.open()
		g := e.take(s, e.claim(e.name("x"), "a"))
		e.release(s, e.renew(s, g))
	}},
	{name: "AHeldLeaseIsRefusedToOthers", check: func(e *env) {
		a, b, name := e.open(), e.open(), e.name("x")
		e.take(a, e.claim(name, "a"))
		e.refused(b, e.claim(name, "b"))
		e.refused(a, e.claim(name, "b"))
	}},
	{name: "TwoHoldersOfOneOwnerAreTwo", check: func(e *env) {
		s, name := e.open(), e.name("x")
		e.take(s, e.claim(name, "a"))
		e.refused(s, e.claim(name, "a"))
	}},
	{name: "TheHolderMayTakeAgain", check: func(e *env) {
		a, b, name := e.open(), e.open(), e.name("x")
		c := e.claim(name, "a")
		first := e.take(a, c)
		again := e.take(a, c)
		require.GreaterOrEqual(e, again.Token, first.Token)
		again = e.renew(a, again)
		e.refused(b, e.claim(name, "b"))
		e.release(a, again)
		e.take(b, e.claim(name, "b"))
	}},
	{name: "TakingAgainLastsFromThen", check: func(e *env) {
		a, b, name := e.open(), e.open(), e.name("x")
		c := e.claim(name, "a")
		e.take(a, c)
		for range 4 {
			e.sleep(e.ttl / 2)
			e.take(a, c)
			e.refused(b, e.claim(name, "b"))
		}
	}},
	{name: "AReleasedLeaseIsFreeAtOnce", check: func(e *env) {
		a, b, name := e.open(), e.open(), e.name("x")
		for range 5 {
			g := e.take(a, e.claim(name, "a"))
			e.refused(b, e.claim(name, "b"))
			e.release(a, g)
			e.release(b, e.take(b, e.claim(name, "b")))
		}
	}},
	{name: "AReleasedLeaseIsNotRenewed", check: func(e *env) {
		s := e.open()
		g := e.take(s, e.claim(e.name("x"), "a"))
		e.release(s, g)
		_ = e.gone(s, g)
	}},
	{name: "AReleaseMayBeRepeated", check: func(e *env) {
		a, b, name := e.open(), e.open(), e.name("x")
		g := e.take(a, e.claim(name, "a"))
		e.release(a, g)
		e.release(a, g)
		other := e.take(b, e.claim(name, "b"))
		e.release(a, g)
		e.renew(b, other)
	}},
	{name: "AReleaseByAnOldGrantHarmsNobody", check: func(e *env) {
		s, b, name := e.open(), e.open(), e.name("x")
		c := e.claim(name, "a")
		old := e.take(s, c)
		e.release(s, old)
		c.Floor = old.Token
		e.renew(s, e.take(s, c))
		e.release(s, old) // a copy that was late
		e.refused(b, e.claim(name, "b"))
	}},
	{name: "OneOfFiftyWins", check: func(e *env) {
		name := e.name("x")
		stores := []lease.Store{e.open(), e.open(), e.open()}
		var mu sync.Mutex
		var won []lease.Grant
		var failed []error
		var all sync.WaitGroup
		for i := range 50 {
			c := e.claim(name, "contender")
			all.Go(func() {
				g, err := stores[i%len(stores)].Take(e.Context(), c)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					won = append(won, g)
				} else {
					failed = append(failed, err)
				}
			})
		}
		all.Wait()
		require.LessOrEqual(e, len(won), 1)
		unknown := 0
		for _, err := range failed {
			if !errors.Is(err, lease.ErrHeld) {
				unknown++ // a store may say so of those that met each other
			}
		}
		require.Less(e, unknown, 50)
		if unknown == 0 {
			require.Len(e, won, 1)
		}
		if len(won) == 1 {
			e.renew(stores[0], won[0])
		}
	}},
	{name: "ACancelledRequestReturnsWithAnError", check: func(e *env) {
		s, name := e.open(), e.name("x")
		g := e.take(s, e.claim(name, "a"))
		ctx, cancel := context.WithCancel(e.Context())
		cancel()
		start := time.Now()
		_, err := s.Take(ctx, e.claim(e.name("y"), "a"))
		require.Error(e, err)
		require.NotErrorIs(e, err, lease.ErrHeld)
		_, err = s.Renew(ctx, g)
		require.Error(e, err)
		require.NotErrorIs(e, err, lease.ErrLost)
		require.Error(e, s.Release(ctx, g))
		require.Less(e, time.Since(start), e.slack)
		e.renew(s, g)
	}},
}

var nameLaws = []law{
	{name: "NamesAreIndependentHoweverAwkward", check: func(e *env) {
		a, b := e.open(), e.open()
		own := e.name("")
		var grants []lease.Grant
		for _, name := range awkward {
			grants = append(grants, e.take(a, e.lasting(fill(name, own), "a")))
		}
		for i, g := range grants {
			e.refused(b, e.lasting(g.Name, "b"))
			grants[i] = e.renew(a, g)
		}
		for i, g := range grants {
			e.release(a, g)
			e.release(b, e.take(b, e.lasting(g.Name, "b")))
			if i+1 < len(grants) {
				grants[i+1] = e.renew(a, grants[i+1])
			}
		}
	}},
	{name: "AwkwardOwnersAreToldApart", check: func(e *env) {
		s, name := e.open(), e.name("x")
		owners := []string{"a b", "ä/ö", "UPPER", "upper", "%2F", "a'b\"c", strings.Repeat("o", 150)}
		for i, owner := range owners {
			g := e.take(s, e.lasting(name, owner))
			for j, other := range owners {
				if i != j {
					e.refused(s, e.lasting(name, other))
				}
			}
			e.release(s, e.renew(s, g))
		}
	}},
}

// awkward are names that differ; * stands for what makes them the law's own, and ~ fills
// up to 200 bytes.
var awkward = []string{
	"*", "*a", "a*", "* ", " *", "*/", "/*", "*/a", "*//a", "*.a", "*-a", "*_a", "*A", "*%2Fa", "*%a", "*:a", "*@a",
	"*ä", "*a\u0308", "*ü", "*日本語", "*🎭", "*'\"`;--", "*\\a", "*$1", "*{}", "*[a]", "*>", "*+", "*?", "*#", "*&=",
	"*\ta", "*\na", "..*", "./*", "*~", "*~é", "*~x", "é*~",
}

func fill(pattern, own string) string {
	name := strings.Replace(pattern, "*", own, 1)
	return strings.Replace(name, "~", strings.Repeat("l", max(0, 201-len(name))), 1)
}
