package pg_test

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/pgtest"
	"github.com/understudy-go/understudy/persistence/postgres/internal/pg"
)

func TestAPoolOfTheCallersStaysOpen(t *testing.T) {
	s := pgtest.Shared(t)
	pool, err := pgxpool.New(t.Context(), s.URL())
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	db, err := pg.New(pool, numbers("callers"))
	require.NoError(t, err)
	require.NoError(t, db.Migrate(t.Context()))
	db.Close()
	require.NoError(t, pool.Ping(t.Context()))

	own := open(t, s.URL(), "callers")
	var n int
	require.NoError(t, own.QueryRow(t.Context(), own.SQL("SELECT count(*) FROM {table} WHERE name = $1"), "x").Scan(&n))
	require.Zero(t, n)
	own.Close()
	require.ErrorContains(t, own.Pool.Ping(t.Context()), "closed pool")
}

// A table in no schema would be the one that the search path of each program finds first.
func TestATableHasASchemaAndAName(t *testing.T) {
	_, err := pg.Open("postgres://db.example/app", numbers(""))
	require.ErrorContains(t, err, "needs a schema")
	_, err = pg.Open("postgres://db.example/app", pg.Table{Schema: "public"})
	require.ErrorContains(t, err, "needs a schema and a name")
	_, err = pg.New(nil, numbers("public"))
	require.ErrorContains(t, err, "needs a pool")
}
