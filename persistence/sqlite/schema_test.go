package sqlite

import (
	"context"
	value "database/sql/driver"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
	driver "modernc.org/sqlite"

	"github.com/understudy-go/understudy/internal/golden"
	"github.com/understudy-go/understudy/internal/journalhistory"
)

func TestAFileOfEveryVersionIsRead(t *testing.T) {
	for version := 1; version <= len(migrations); version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			j := openPath(t, goldenFile(t, version))
			journalhistory.Require(t, j)
			journalhistory.RequireTimers(t, j)
			journalhistory.RequireLater(t, j)
			require.NoError(t, j.Check(t.Context()))
		})
	}
}

func TestTwoWaysToAVersionLeadToTheSameTables(t *testing.T) {
	fresh := tables(t, openTest(t))
	for version := 1; version <= len(migrations); version++ {
		require.Equal(t, fresh, tables(t, openPath(t, goldenFile(t, version))), "from version %d", version)
	}
}

// goldenFile returns the path of a copy of the golden file of a version.
func goldenFile(t *testing.T, version int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "journal.db")
	content := golden.File(t, fmt.Sprintf("version-%d.db", version), func() []byte {
		require.Equal(t, len(migrations), version, "this build writes no older version")
		made := filepath.Join(t.TempDir(), "new.db")
		j, err := Open(made)
		require.NoError(t, err)
		journalhistory.Write(t, j)
		journalhistory.WriteTimers(t, j)
		journalhistory.WriteLater(t, j)
		require.NoError(t, j.Close())
		data, err := os.ReadFile(made)
		require.NoError(t, err)
		return data
	})
	require.NoError(t, os.WriteFile(path, content, 0o600))
	return path
}

func tables(t *testing.T, j *Journal) (statements []string) {
	t.Helper()
	rows, err := j.readers.QueryContext(t.Context(), "SELECT coalesce(sql, name) FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%' ORDER BY type, name")
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var sql string
		require.NoError(t, rows.Scan(&sql))
		statements = append(statements, sql)
	}
	require.NoError(t, rows.Err())
	return statements
}

// later is a list of migrations that leads two versions further. A step that ran twice would fail.
func later() []string {
	return append(slices.Clone(migrations), "CREATE TABLE later (n INTEGER) STRICT;", "ALTER TABLE later ADD COLUMN m INTEGER;")
}

// openLater opens the journal at path with a build that knows later versions.
func openLater(ctx context.Context, path string, log *zap.Logger) (*Journal, error) {
	return open(ctx, path, config{synchronous: "FULL", log: log, migrations: later()})
}

func TestMigrationsRunOnceHoweverManyOpenAtOnce(t *testing.T) {
	path := goldenFile(t, 1)
	journalhistory.RequireOneMigration(t, 8, map[string]any{"file": path, "from": int64(1), "to": int64(len(later()))}, func(log *zap.Logger) (*Journal, error) {
		return openLater(t.Context(), path, log)
	})

	core, logged := observer.New(zap.InfoLevel)

	_, err := Open(path, Logger(zap.New(core)))
	require.ErrorIs(t, err, ErrNewerSchema)
	require.ErrorContains(t, err, fmt.Sprintf("it has version %d, this program knows %d; use a newer build", len(later()), len(migrations)))
	require.Zero(t, logged.Len())
}

func TestAMigrationThatFailsChangesNothing(t *testing.T) {
	path := goldenFile(t, 1)
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	_, err = open(t.Context(), path, config{synchronous: "FULL", log: zap.NewNop(), migrations: append(later(), "CREATE TABLE entity (x);")})
	require.ErrorContains(t, err, "already exists")
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after)
	journalhistory.Require(t, openPath(t, path))
}

// endPatience is called by SQL: it ends the context of the Open that migrates.
var endPatience context.CancelFunc

func init() {
	driver.MustRegisterScalarFunction("end_patience", 0, func(*driver.FunctionContext, []value.Value) (value.Value, error) {
		endPatience()
		return int64(1), nil
	})
}

func TestAMigrationMayTakeLongerThanOpenWaitsForOthers(t *testing.T) {
	path := goldenFile(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	endPatience = cancel
	slow := `CREATE TABLE later (n INTEGER) STRICT;
		INSERT INTO later SELECT end_patience();
		INSERT INTO later WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM c WHERE n < 100000) SELECT sum(n) FROM c;`
	j, err := open(ctx, path, config{synchronous: "FULL", log: zap.NewNop(), migrations: append(slices.Clone(migrations), slow)})
	require.NoError(t, err)
	require.Error(t, ctx.Err())
	journalhistory.Require(t, j)
	require.NoError(t, j.Close())
}

func TestOpenLogsThatItHasMadeTheTables(t *testing.T) {
	core, logged := observer.New(zap.InfoLevel)
	path := pathOf(openTest(t, Logger(zap.New(core))))
	openPath(t, path, Logger(zap.New(core)))
	openPath(t, path, Logger(nil))
	require.Equal(t, 1, logged.FilterMessage("journal migrated").FilterField(zap.Int("from", 0)).Len())
	require.Equal(t, 1, logged.Len(), "nothing is done twice")
}
