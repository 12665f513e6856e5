package postgres_test

import (
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/pg/pgtest"
	"github.com/understudy-go/understudy/singleton/lease/postgres"
)

func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", "16") // the laws mostly wait; -parallel says otherwise
	os.Exit(pgtest.Main(m))
}

// ownTable is a table that no other test uses.
func ownTable(t testing.TB) postgres.Option { return postgres.Table("public", t.Name()) }

func openAt(t *testing.T, url string, opts ...postgres.Option) *postgres.Store {
	t.Helper()
	store, err := postgres.Open(url, opts...)
	require.NoError(t, err)
	t.Cleanup(store.Close)
	require.NoError(t, store.Migrate(t.Context()))
	return store
}
