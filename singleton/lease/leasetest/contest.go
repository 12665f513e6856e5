package leasetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/singleton/lease"
)

// contestLaws let contenders fight for a name over links with faults, and look at when
// each of them believed to hold it.
var contestLaws = []law{
	{name: "EightContendersNeverHoldAtOnce", check: func(e *env) { contest(e, false) }},               // 91
	{name: "EightContendersWithWrongClocksNeverHoldAtOnce", check: func(e *env) { contest(e, true) }}, // 98, 99
}

// A stint is how long one contender believed to hold the lease, as its Valid says.
type stint struct {
	owner      string
	token      uint64
	begin, end time.Time
}

func contest(e *env, skewed bool) {
	name := e.name("contest")
	seed := rand.Uint64()
	e.Logf("seed %d", seed)
	length := 6 * e.ttl
	if e.bubble {
		length = 1000 * e.ttl
	}
	start := time.Now()
	var mu sync.Mutex
	var stints []stint
	var all sync.WaitGroup
	for i := range 8 {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		owner := fmt.Sprint("contender-", i)
		var change []func(*lease.Settings)
		if skewed {
			change = append(change, with(newClock(0.9+0.2*float64(i)/7, time.Duration(i-4)*time.Hour)))
		}
		h := e.holder(name, owner, change...)
		all.Go(func() {
			for time.Since(start) < length {
				h.link.heal()
				h.link.trouble(rand.New(rand.NewPCG(rng.Uint64(), 1)), e.ttl/2)
				if ok, err := h.Acquire(e.Context()); !ok || err != nil {
					e.sleepIn(rng, e.ttl/2)
					continue
				}
				s := e.serve(h, rng)
				s.owner = owner
				mu.Lock()
				stints = append(stints, s)
				mu.Unlock()
			}
			h.link.heal()
		})
	}
	all.Wait()
	judge(e, stints, int(length/e.ttl))
}

func (e *env) serve(h *holder, rng *rand.Rand) stint {
	s := stint{token: h.Token()}
	until := time.Now().Add(time.Duration(rng.Float64() * 2 * float64(e.ttl)))
	dies := rng.IntN(3) == 0
	if dies {
		h.link.cut()
	}
	for time.Now().Before(until) || dies {
		now := time.Now()
		if !h.Valid() {
			break
		}
		if s.begin.IsZero() {
			s.begin = now
		}
		s.end = now
		e.sleepIn(rng, e.ttl/50)
	}
	if !dies || rng.IntN(2) == 0 {
		_ = h.Release(e.Context()) // with a fault; then it expires
	}
	return s
}

func (e *env) sleepIn(rng *rand.Rand, d time.Duration) {
	select {
	case <-time.After(time.Duration(rng.Float64() * float64(d))):
	case <-e.Context().Done():
	}
}

func judge(e *env, stints []stint, ttls int) {
	stints = slices.DeleteFunc(stints, func(s stint) bool { return s.begin.IsZero() })
	slices.SortFunc(stints, func(a, b stint) int { return a.begin.Compare(b.begin) })
	e.Logf("%d stints in %d TTLs", len(stints), ttls)
	require.GreaterOrEqual(e, len(stints), max(1, ttls/20), "hardly anybody ever held it")
	for i := 1; i < len(stints); i++ {
		a, b := stints[i-1], stints[i]
		require.False(e, b.begin.Before(a.end), "%v and %v held it at once", a, b)
		require.Greater(e, b.token, a.token, "%v came after %v", b, a)
	}
}

// Contenders makes all stores, which share their records, ask for one lease at once. In each round
// one gets it, and any other store releases it. It requires more than the laws of [Run], which
// allow contenders that collide to get no answer: here one wins, and the others are refused with
// [lease.ErrHeld]. The lease has the name of t.
func Contenders[S lease.Store](t *testing.T, stores []S, rounds int) {
	t.Helper()
	var last uint64
	for round := range rounds {
		var mu sync.Mutex // guards won
		var won []lease.Grant
		var all sync.WaitGroup
		for i, store := range stores {
			holder := fmt.Sprint(round, "/", i)
			all.Go(func() {
				g, err := store.Take(t.Context(), lease.Claim{Name: t.Name(), Holder: holder, TTL: time.Minute})
				if err == nil {
					mu.Lock()
					defer mu.Unlock()
					won = append(won, g)
				} else if !errors.Is(err, lease.ErrHeld) {
					t.Errorf("contender %s: %v", holder, err)
				}
			})
		}
		all.Wait()
		require.Len(t, won, 1)
		require.Greater(t, won[0].Token, last)
		last = won[0].Token
		require.NoError(t, stores[round%len(stores)].Release(t.Context(), won[0]), "at any store")
	}
}
