package leasetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/singleton/lease"
)

// BenchmarkStore measures the requests of one caller, one after the other: a renewal, of which
// every holder sends four in a TTL; a take with its release; and a refused take, as sent by
// contenders that wait. It takes leases named after b. Those that it does not release expire after
// a minute.
func BenchmarkStore(b *testing.B, store lease.Store) {
	b.Run("renew", func(b *testing.B) {
		grant, err := store.Take(b.Context(), benchmarkClaim(b, "a"))
		require.NoError(b, err)
		for b.Loop() {
			grant, err = store.Renew(b.Context(), grant)
			require.NoError(b, err)
		}
	})
	b.Run("take and release", func(b *testing.B) {
		for b.Loop() {
			grant, err := store.Take(b.Context(), benchmarkClaim(b, "a"))
			require.NoError(b, err)
			require.NoError(b, store.Release(b.Context(), grant))
		}
	})
	b.Run("refused", func(b *testing.B) {
		_, err := store.Take(b.Context(), benchmarkClaim(b, "a"))
		require.NoError(b, err)
		for b.Loop() {
			_, err = store.Take(b.Context(), benchmarkClaim(b, "b"))
			require.ErrorIs(b, err, lease.ErrHeld)
		}
	})
}

func benchmarkClaim(b *testing.B, holder string) lease.Claim {
	return lease.Claim{Name: b.Name(), Holder: holder, TTL: time.Minute}
}
