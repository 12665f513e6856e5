package pg_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/pg"
	"github.com/understudy-go/understudy/internal/pg/pgtest"
)

func numbers(schema string) pg.Table {
	return pg.Table{Schema: schema, Name: "numbers", Columns: "name, number", Definition: "(name text PRIMARY KEY, number bigint)", Version: 2, Type: "Store"}
}

func open(t *testing.T, url, schema string) *pg.DB {
	t.Helper()
	db, err := pg.Open(url, numbers(schema))
	require.NoError(t, err)
	t.Cleanup(db.Close)
	return db
}

// migrating is set in the processes that TestTwoProcessesMigrateAtOnce starts.
const migrating = "UNDERSTUDY_TEST_MIGRATE"

func TestTwoProcessesMigrateAtOnce(t *testing.T) {
	if url := os.Getenv(migrating); url != "" {
		for i := range 20 {
			require.NoError(t, open(t, url, fmt.Sprint("schema ", i)).Migrate(t.Context()))
		}
		return
	}
	s := pgtest.Shared(t)
	var processes []*exec.Cmd
	for range 2 {
		p := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		p.Env = append(os.Environ(), migrating+"="+s.URL())
		p.Stdout, p.Stderr = os.Stderr, os.Stderr
		require.NoError(t, p.Start())
		processes = append(processes, p)
	}
	for _, p := range processes {
		require.NoError(t, p.Wait())
	}
	require.Equal(t, "20", s.SQL(t, "SELECT count(*) FROM pg_tables WHERE tablename = 'numbers' AND schemaname LIKE 'schema %'"))
}

func TestATableThatIsThereIsNotTouchedAndThatOfAnotherIsRefused(t *testing.T) {
	s := pgtest.Shared(t)
	s.SQL(t, "CREATE SCHEMA mine; CREATE SCHEMA theirs")
	s.SQL(t, numbers("mine").DDL()+`INSERT INTO mine.numbers VALUES ('a', 1)`)
	require.NoError(t, open(t, s.URL(), "mine").Migrate(t.Context()))
	require.Equal(t, "1", s.SQL(t, "SELECT number FROM mine.numbers"))

	s.SQL(t, "CREATE TABLE theirs.numbers (name text)")
	err := open(t, s.URL(), "theirs").Migrate(t.Context())
	require.Equal(t, pg.UndefinedColumn, pg.Code(err))
	require.ErrorContains(t, err, "the table is not one of this package")
}

func TestATableOfANewerVersionIsRefused(t *testing.T) {
	s := pgtest.Shared(t)
	db := open(t, s.URL(), "versions")
	require.NoError(t, db.Migrate(t.Context()))
	comment := func() string { return s.SQL(t, "SELECT obj_description('versions.numbers'::regclass)") }
	require.Equal(t, "understudy, version 2", comment())
	s.SQL(t, db.DDL())
	for _, older := range []string{"'understudy, version 1'", "'the numbers of us all'", "'understudy, version x'", "NULL"} {
		s.SQL(t, "COMMENT ON TABLE versions.numbers IS "+older)
		require.NoError(t, db.Migrate(t.Context()), older)
	}
	s.SQL(t, "COMMENT ON TABLE versions.numbers IS 'understudy, version 3'")
	err := db.Migrate(t.Context())
	require.ErrorIs(t, err, pg.ErrNewerSchema)
	require.ErrorContains(t, err, "it has version 3, this program knows 2; use a newer build")
	s.SQL(t, db.DDL())
	require.Equal(t, "understudy, version 3", comment(), "the statements of an older version change nothing")
}
