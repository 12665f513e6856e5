package postgres_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/pgtest"
	"github.com/understudy-go/understudy/persistence/postgres"
	"github.com/understudy-go/understudy/singleton/lease"
	"github.com/understudy-go/understudy/singleton/lease/leasetest"
)

func TestTheLeaseOfAKilledProcessIsFreeAfterTheTTL(t *testing.T) {
	leasetest.KilledHolder(t, func() string { return pgtest.Shared(t).URL() }, func(t *testing.T, url string) lease.Store {
		return openLeases(t, url, ownTable(t))
	})
}

func BenchmarkLeases(b *testing.B) {
	store, err := postgres.OpenLeases(pgtest.Shared(b).URL(), ownTable(b))
	require.NoError(b, err)
	b.Cleanup(store.Close)
	require.NoError(b, store.Migrate(b.Context()))
	leasetest.BenchmarkStore(b, store)
	b.Run("next term", func(b *testing.B) {
		for b.Loop() {
			_, err := store.ClaimTerm(b.Context(), "term", "node", 0)
			require.NoError(b, err)
		}
	})
}
