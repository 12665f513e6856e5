package postgres_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/golden"
	"github.com/understudy-go/understudy/internal/pgtest"
	"github.com/understudy-go/understudy/persistence/postgres"
	"github.com/understudy-go/understudy/singleton/lease"
)

// A golden file makes a table of its version, with a lease that ended long ago and one that does
// not end.
func TestTablesOfLeasesOfAllVersionsAreRead(t *testing.T) {
	s := pgtest.Shared(t)
	table := postgres.LeasesTable("golden", "version 1")
	s.SQL(t, "CREATE SCHEMA golden")
	script := golden.File(t, "leases-version-1.sql", func() []byte {
		store, err := postgres.OpenLeases(s.URL(), table)
		require.NoError(t, err)
		defer store.Close()
		return []byte(store.DDL() + `INSERT INTO "golden"."version 1" (name, token, holder, held, expires_at) VALUES
	('ended', 7, 'node-1/a', 7, '2026-11-25 12:30:00+00'),
	('held', 9, 'node-2/b', 8, 'infinity');
`)
	})
	s.SQL(t, string(script))
	store := openLeases(t, s.URL(), table)
	_, err := store.Take(t.Context(), claim("held", "node-3/c"))
	require.ErrorIs(t, err, lease.ErrHeld)
	grant, err := store.Take(t.Context(), claim("ended", "node-3/c"))
	require.NoError(t, err)
	require.EqualValues(t, 8, grant.Token)
	grant, err = store.Take(t.Context(), claim("held", "node-2/b"))
	require.NoError(t, err)
	require.EqualValues(t, 8, grant.Token, "the same acquisition")
}

// An operator has made the table with the statements of DDL, and the program does not call Migrate.
func TestANewerTableIsNotUsedWithoutMigrateEither(t *testing.T) {
	s := pgtest.Shared(t)
	store, err := postgres.OpenLeases(s.URL(), ownTable(t))
	require.NoError(t, err)
	t.Cleanup(store.Close)
	s.SQL(t, store.DDL())
	s.SQL(t, `COMMENT ON TABLE public."`+t.Name()+`" IS 'understudy, version 2'`)

	_, err = store.Take(t.Context(), claim("job", "a"))
	require.ErrorIs(t, err, postgres.ErrNewerSchema)
	require.ErrorContains(t, err, "it has version 2, this program knows 1; use a newer build")
	_, err = store.Renew(t.Context(), lease.Grant{Claim: claim("job", "a"), Token: 1})
	require.ErrorIs(t, err, postgres.ErrNewerSchema)
	require.ErrorIs(t, store.Release(t.Context(), lease.Grant{Claim: claim("job", "a")}), postgres.ErrNewerSchema)
	_, err = store.ClaimTerm(t.Context(), "job", "node", 0)
	require.ErrorIs(t, err, postgres.ErrNewerSchema)
	require.Equal(t, "0", s.SQL(t, `SELECT count(*) FROM public."`+t.Name()+`"`))
}
