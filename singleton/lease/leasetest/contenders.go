package leasetest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/singleton/lease"
)

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
