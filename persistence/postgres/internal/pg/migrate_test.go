package pg_test

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/pgtest"
	"github.com/understudy-go/understudy/persistence/postgres/internal/pg"
)

func numbers(schema string) pg.Table {
	return pg.Table{Schema: schema, Name: "numbers", Columns: "name, number", Type: "Store", Migrations: []string{
		"CREATE TABLE {table} (name text PRIMARY KEY);",
		"ALTER TABLE {table} ADD COLUMN IF NOT EXISTS number bigint;",
	}}
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

// A schema is of no single table: two that are made at once make it once.
func TestTwoTablesInAFreshSchemaAreMadeAtOnce(t *testing.T) {
	s := pgtest.Shared(t)
	for i := range 20 {
		var all sync.WaitGroup
		failures := make(chan error, 4)
		for k := range cap(failures) {
			table := numbers(fmt.Sprint("fresh ", i))
			table.Name = fmt.Sprint("numbers ", k%2)
			db, err := pg.Open(s.URL(), table)
			require.NoError(t, err)
			all.Go(func() {
				defer db.Close()
				failures <- db.Migrate(t.Context())
			})
		}
		all.Wait()
		close(failures)
		for err := range failures {
			require.NoError(t, err)
		}
	}
}

func TestAnOlderTableIsBroughtUpToDate(t *testing.T) {
	s := pgtest.Shared(t)
	older := numbers("older")
	older.Migrations = older.Migrations[:1]
	s.SQL(t, older.DDL())
	s.SQL(t, "INSERT INTO older.numbers VALUES ('a')")
	require.NoError(t, open(t, s.URL(), "older").Migrate(t.Context()))
	require.Equal(t, "understudy, version 2", s.SQL(t, "SELECT obj_description('older.numbers'::regclass)"))
	require.Equal(t, "1", s.SQL(t, "SELECT count(*) FROM older.numbers WHERE number IS NULL"))
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
