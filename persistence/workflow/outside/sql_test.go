//go:build !race

package outside_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/lab/receivers"
	_ "github.com/understudy-go/understudy/persistence/sqlite" // registers the driver "sqlite"
	"github.com/understudy-go/understudy/persistence/workflow/outside"
)

func openSQLite(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "data.db")+"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func TestSQLiteObeysTheLawsOfStores(t *testing.T) {
	receivers.Stores(t, func(t *testing.T) outside.Store { return outside.NewSQL(openSQLite(t)) })
}

func TestSQLiteObeysTheLawsOfDatabases(t *testing.T) { receivers.Databases(t, openSQLite) }

func TestAFenceNeedsAStep(t *testing.T) {
	db := openSQLite(t)
	require.NoError(t, outside.Migrate(t.Context(), db))
	tx, err := db.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	require.ErrorIs(t, outside.Fence(context.Background(), tx), outside.ErrNoStep)
	require.NoError(t, tx.Rollback())
}
