package postgres_test

import (
	"crypto/rand"
	"database/sql"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver "pgx"
	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/lab/receivers"
	"github.com/understudy-go/understudy/internal/pgtest"
	"github.com/understudy-go/understudy/persistence/workflow/outside"
)

// openSchema returns a database with an empty schema.
func openSchema(t *testing.T) *sql.DB {
	t.Helper()
	s, schema := pgtest.Shared(t), strings.ToLower(rand.Text())
	s.SQL(t, `CREATE SCHEMA "`+schema+`"`)
	db, err := sql.Open("pgx", s.URL()+"?search_path="+schema)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func TestPostgreSQLObeysTheLawsOfStores(t *testing.T) {
	receivers.Stores(t, func(t *testing.T) outside.Store { return outside.NewSQL(openSchema(t)) })
}

func TestPostgreSQLObeysTheLawsOfDatabases(t *testing.T) { receivers.Databases(t, openSchema) }
