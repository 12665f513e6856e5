package postgres_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/pgtest"
	"github.com/understudy-go/understudy/persistence/postgres"
	"github.com/understudy-go/understudy/singleton/lease"
	"github.com/understudy-go/understudy/singleton/lease/leasetest"
)

// Where connections of the server are fewer than those who ask, each request may get another one.
func TestLeasesBehindPgBouncer(t *testing.T) {
	t.Parallel()
	s := pgtest.Start(t, "synchronous_commit=off")
	for mode, connections := range map[string]int{"session": 40, "transaction": 2, "statement": 2} {
		t.Run(mode, func(t *testing.T) {
			url := s.PgBouncer(t, mode, connections)
			table := postgres.LeasesTable("behind pgbouncer", mode)
			stores := make([]*postgres.Leases, 8)
			for i := range stores {
				stores[i] = openLeases(t, url, table)
			}
			leasetest.Contenders(t, stores, 20)
			termsIncrease(t, stores, 20)

			grant, err := stores[0].Take(t.Context(), claim("kept", "a"))
			require.NoError(t, err)
			for _, store := range stores {
				_, err = store.Take(t.Context(), claim("kept", "b"))
				require.ErrorIs(t, err, lease.ErrHeld)
				grant, err = store.Renew(t.Context(), grant)
				require.NoError(t, err)
			}
			require.NoError(t, stores[7].Release(t.Context(), grant))
			for range 2 * connections {
				require.Equal(t, "off", pgtest.SQL(t.Context(), t, url, "SHOW synchronous_commit"), "nothing stays in a session")
			}
		})
	}
}

func TestLeasesBehindPgBouncerObeyTheLaws(t *testing.T) {
	t.Parallel()
	s := pgtest.Start(t, "fsync=off")
	runLeaseLaws(t, s, s.PgBouncer(t, "transaction", 4))
}
