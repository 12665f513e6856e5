package postgres_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/golden"
	"github.com/understudy-go/understudy/internal/pg/pgtest"
	"github.com/understudy-go/understudy/singleton/generation"
	"github.com/understudy-go/understudy/singleton/generation/postgres"
)

// A golden file makes a table of its version, with a singleton that has an owner and one that was
// forgotten.
func TestTablesOfAllVersionsAreRead(t *testing.T) {
	s := pgtest.Shared(t)
	table := postgres.Table("golden", "version 1")
	s.SQL(t, "CREATE SCHEMA golden")
	script := golden.File(t, "version-1.sql", func() []byte {
		source, err := postgres.Open(s.URL(), table)
		require.NoError(t, err)
		defer source.Close()
		return []byte(source.DDL() + `INSERT INTO "golden"."version 1" (label, term, seq, owner, spec) VALUES
	('singleton/one', 7, 2, 'node-1', '\x73706563'),
	('singleton/two', 4, 0, NULL, NULL);
`)
	})
	s.SQL(t, string(script))
	source := openAt(t, s.URL(), table)
	records, err := source.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, []generation.Record{{
		Label: "singleton/one", Spec: []byte("spec"), Ownership: generation.Ownership{Owner: "node-1", Generation: generation.Generation{Term: 7, Seq: 2}},
	}}, records)
	next, err := source.ClaimSeq(t.Context(), "singleton/one")
	require.NoError(t, err)
	require.Equal(t, generation.Generation{Term: 7, Seq: 3}, next)
	next, err = source.ClaimTerm(t.Context(), "singleton/two", "node-2", 0)
	require.NoError(t, err)
	require.Equal(t, generation.Generation{Term: 5}, next)
}

// An operator has made the table with the statements of DDL, and the program does not call Migrate.
func TestANewerTableIsNotUsedWithoutMigrateEither(t *testing.T) {
	s := pgtest.Shared(t)
	source, err := postgres.Open(s.URL(), ownTable(t))
	require.NoError(t, err)
	t.Cleanup(source.Close)
	s.SQL(t, source.DDL())
	s.SQL(t, `COMMENT ON TABLE public."`+t.Name()+`" IS 'understudy, version 2'`)

	_, err = source.ClaimTerm(t.Context(), "job", "a", 0)
	require.ErrorIs(t, err, postgres.ErrNewerSchema)
	require.ErrorContains(t, err, "it has version 2, this program knows 1; use a newer build")
	_, err = source.ClaimSeq(t.Context(), "job")
	require.ErrorIs(t, err, postgres.ErrNewerSchema)
	_, _, err = source.Current(t.Context(), "job")
	require.ErrorIs(t, err, postgres.ErrNewerSchema)
	require.ErrorIs(t, source.PutSpec(t.Context(), "job", nil), postgres.ErrNewerSchema)
	_, err = source.List(t.Context())
	require.ErrorIs(t, err, postgres.ErrNewerSchema)
	require.ErrorIs(t, source.Forget(t.Context(), "job"), postgres.ErrNewerSchema)
	require.Equal(t, "0", s.SQL(t, `SELECT count(*) FROM public."`+t.Name()+`"`))
}
