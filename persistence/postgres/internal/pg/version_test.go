package pg_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/pgtest"
	"github.com/understudy-go/understudy/persistence/postgres/internal/pg"
)

// made makes a table with the statements of DDL, as an operator does.
func made(t *testing.T, s *pgtest.Server, schema string) {
	t.Helper()
	s.SQL(t, "CREATE SCHEMA "+schema)
	s.SQL(t, numbers(schema).DDL())
}

func setVersion(t *testing.T, s *pgtest.Server, schema, version string) {
	t.Helper()
	s.SQL(t, "COMMENT ON TABLE "+schema+".numbers IS 'understudy, version "+version+"'")
}

// count asks for the number of rows by QueryRow and by Query, which agree.
func count(t *testing.T, db *pg.DB) (n int, err error) {
	t.Helper()
	sql := db.SQL("SELECT count(*) FROM {table} WHERE name <> $1")
	err = db.QueryRow(t.Context(), sql, "x").Scan(&n)
	rows, again := db.Query(t.Context(), sql, "x")
	if again == nil {
		var all []int
		all, again = pgx.CollectRows(rows, pgx.RowTo[int])
		if again == nil {
			require.Equal(t, []int{n}, all)
		}
	}
	require.Equal(t, err == nil, again == nil, "%v, %v", err, again)
	return n, err
}

func TestATableOfANewerVersionIsNotUsedWithoutMigrateEither(t *testing.T) {
	s := pgtest.Shared(t)
	made(t, s, "unmigrated")
	setVersion(t, s, "unmigrated", "3")
	s.SQL(t, "ALTER TABLE unmigrated.numbers DROP COLUMN number")
	db := open(t, s.URL(), "unmigrated")
	require.ErrorIs(t, db.Migrate(t.Context()), pg.ErrNewerSchema, "whatever columns it has")

	db = open(t, s.URL(), "unmigrated")
	for range 2 {
		_, err := count(t, db)
		require.ErrorIs(t, err, pg.ErrNewerSchema)
		require.ErrorContains(t, err, "it has version 3, this program knows 2; use a newer build")
		setVersion(t, s, "unmigrated", "2") // the program has to be started again
	}
}

func TestAVersionIsLookedUpOnce(t *testing.T) {
	s := pgtest.Shared(t)
	made(t, s, "once")
	s.SQL(t, "INSERT INTO once.numbers VALUES ('a', 1)")
	db := open(t, s.URL(), "once")
	n, err := count(t, db)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	setVersion(t, s, "once", "3") // in a rolling upgrade, the programs that run continue
	_, err = count(t, db)
	require.NoError(t, err)
}

func TestATableThatIsMadeLaterIsCheckedThen(t *testing.T) {
	s := pgtest.Shared(t)
	db := open(t, s.URL(), "not_yet")
	_, err := count(t, db)
	require.True(t, pg.IsMissing(err), "%v", err)
	made(t, s, "not_yet")
	setVersion(t, s, "not_yet", "3")
	_, err = count(t, db)
	require.ErrorIs(t, err, pg.ErrNewerSchema)
}

func TestACheckWithoutAnAnswerIsRepeated(t *testing.T) {
	s := pgtest.Shared(t)
	made(t, s, "unanswered")
	config, err := pgxpool.ParseConfig(s.URL())
	require.NoError(t, err)
	errNoLine, broken := errors.New("no line"), atomic.Bool{}
	config.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		if broken.Load() {
			return nil, errNoLine
		}
		return new(net.Dialer).DialContext(ctx, network, addr)
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	db, err := pg.New(pool, numbers("unanswered"))
	require.NoError(t, err)

	broken.Store(true)
	_, err = count(t, db)
	require.ErrorIs(t, err, errNoLine)
	broken.Store(false)
	_, err = count(t, db)
	require.NoError(t, err)
}
