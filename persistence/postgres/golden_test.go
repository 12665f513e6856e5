package postgres_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/understudy-go/understudy/internal/golden"
	"github.com/understudy-go/understudy/internal/journalhistory"
	"github.com/understudy-go/understudy/internal/pgtest"
	"github.com/understudy-go/understudy/persistence/postgres"
)

// goldenSchema stands for the schema in golden files.
const goldenSchema = "golden_schema"

func TestTablesOfEveryVersionAreRead(t *testing.T) {
	s := pgtest.Shared(t)
	for version := 1; version <= postgres.Versions; version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			j := openAt(t, s.URL(), postgres.Schema(makeGolden(t, s, version)))
			journalhistory.Require(t, j)
			journalhistory.RequireTimers(t, j)
			journalhistory.RequireLater(t, j)
		})
	}
}

func TestTwoWaysToAVersionLeadToTheSameTables(t *testing.T) {
	s := pgtest.Shared(t)
	fresh := columns(t, s, open(t, s).schema)
	for version := 1; version <= postgres.Versions; version++ {
		schema := makeGolden(t, s, version)
		openAt(t, s.URL(), postgres.Schema(schema))
		require.Equal(t, fresh, columns(t, s, schema), "from version %d", version)
	}
}

// makeGolden makes the tables and rows of the golden file of a version, and returns their schema.
func makeGolden(t *testing.T, s *pgtest.Server, version int) (schema string) {
	t.Helper()
	script := golden.File(t, fmt.Sprintf("version-%d.sql", version), func() []byte {
		require.Equal(t, postgres.Versions, version, "this build writes no older version")
		return []byte(script(t, s))
	})
	schema = rand.Text()
	s.SQL(t, strings.NewReplacer(`"`+goldenSchema+`"`, `"`+schema+`"`, `'`+goldenSchema+`'`, `'`+schema+`'`).Replace(string(script)))
	return schema
}

func script(t *testing.T, s *pgtest.Server) string {
	t.Helper()
	j := open(t, s)
	journalhistory.Write(t, j)
	journalhistory.WriteTimers(t, j)
	journalhistory.WriteLater(t, j)
	s.SQL(t, postgres.Renumber(j.schema)) // the rows are to be read on another server
	var b strings.Builder
	b.WriteString(postgres.DDL(goldenSchema) + ";\n")
	for _, table := range []string{"entity", "event", "snapshot", "timer", "reader"} {
		rows := s.SQL(t, fmt.Sprintf(`SELECT json_agg(r ORDER BY r) FROM %q.understudy_%s r`, j.schema, table))
		fmt.Fprintf(&b, "INSERT INTO %[1]q.understudy_%[2]s SELECT * FROM json_populate_recordset(NULL::%[1]q.understudy_%[2]s, $rows$%[3]s$rows$);\n", goldenSchema, table, rows)
	}
	return b.String()
}

func columns(t *testing.T, s *pgtest.Server, schema string) string {
	t.Helper()
	text := s.SQL(t, fmt.Sprintf(`SELECT string_agg(line, E'\n' ORDER BY line) FROM (
		SELECT concat_ws(' ', table_name, column_name, data_type, collation_name, is_nullable, column_default) AS line
		FROM information_schema.columns WHERE table_schema = '%[1]s'
		UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = '%[1]s') lines`, schema))
	return strings.ReplaceAll(text, schema, goldenSchema)
}

// openLater opens a journal with a build that knows two later versions. A migration that ran twice
// would fail.
func openLater(ctx context.Context, url, schema string, log *zap.Logger) (*postgres.Journal, error) {
	return postgres.Open(ctx, url, postgres.Schema(schema), postgres.Logger(log), postgres.Migrations(`
CREATE TABLE {schema}.understudy_later (n integer);`, `
ALTER TABLE {schema}.understudy_later ADD COLUMN m integer;`))
}

func TestMigrationsRunOnceHoweverManyOpenAtOnce(t *testing.T) {
	s := pgtest.Shared(t)
	schema := makeGolden(t, s, 1)
	journalhistory.RequireOneMigration(t, 6, map[string]any{"schema": schema, "from": "1", "to": int64(postgres.Versions + 2)}, func(log *zap.Logger) (*postgres.Journal, error) {
		return openLater(t.Context(), s.URL(), schema, log)
	})

	core, logged := observer.New(zap.InfoLevel)

	_, err := postgres.Open(t.Context(), s.URL(), postgres.Schema(schema), postgres.Logger(zap.New(core)))
	require.ErrorIs(t, err, postgres.ErrNewerSchema)
	require.ErrorContains(t, err, fmt.Sprintf("it has version %d, this program knows %d; use a newer build", postgres.Versions+2, postgres.Versions))
	require.Zero(t, logged.Len())
}

func TestAMigrationThatFailsChangesNothing(t *testing.T) {
	s := pgtest.Shared(t)
	schema := makeGolden(t, s, 1)
	before := columns(t, s, schema)
	_, err := postgres.Open(t.Context(), s.URL(), postgres.Schema(schema), postgres.Logger(nil), postgres.Migrations(`
CREATE TABLE {schema}.understudy_later (n integer);`, `
CREATE TABLE {schema}.understudy_event (n integer);`))
	require.ErrorContains(t, err, "already exists")
	require.Equal(t, before, columns(t, s, schema))
	journalhistory.Require(t, openAt(t, s.URL(), postgres.Schema(schema)))
}
