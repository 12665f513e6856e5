package pgschema_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/pgschema"
)

func TestNamesAreLiteralWhateverTheyContain(t *testing.T) {
	sql := pgschema.Commented(`it's`, `a "{version}" \ name`, []string{"CREATE TABLE {table} (n int);"}).SQL()
	require.Contains(t, sql, `CREATE TABLE "it's"."a ""{version}"" \ name" (n int);`)
	require.Contains(t, sql, `nspname = 'it''s'`)
	require.Contains(t, sql, `to_regclass(E'"it''s"."a ""{version}"" \\ name"')`)
	require.Contains(t, sql, `IS 'understudy, version 1'`)
}

func TestATableWithoutASchemaIsInTheFirstOfTheSearchPath(t *testing.T) {
	sql := pgschema.Commented("", "t", []string{"CREATE TABLE {table} ();"}).SQL()
	require.Contains(t, sql, `'understudy ' || current_schema()`)
	require.NotContains(t, sql, "CREATE SCHEMA")
}
