package postgres_test

import (
	"context"
	"flag"
	"os"
	"testing"

	"go.uber.org/zap"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/lab/processes"
	"github.com/understudy-go/understudy/internal/pgtest"
	"github.com/understudy-go/understudy/persistence/journal"
	"github.com/understudy-go/understudy/persistence/postgres"
)

func TestMain(m *testing.M) {
	processes.Main(processes.Writers(func(place []string) (journal.Journal, error) {
		return postgres.Open(context.Background(), place[0], postgres.Schema(place[1]))
	}, map[string]processes.Role{
		"migrate": processes.Migrator(func(place []string, log *zap.Logger) (journal.Journal, error) {
			return openLater(context.Background(), place[0], place[1], log)
		}),
	}))
	_ = flag.Set("test.parallel", "16") // the laws mostly wait; -parallel says otherwise
	os.Exit(pgtest.Main(m))
}

// ownTable is a table of leases that no other test uses.
func ownTable(t testing.TB) postgres.LeasesOption { return postgres.LeasesTable("public", t.Name()) }

func openLeases(t *testing.T, url string, opts ...postgres.LeasesOption) *postgres.Leases {
	t.Helper()
	store, err := postgres.OpenLeases(url, opts...)
	require.NoError(t, err)
	t.Cleanup(store.Close)
	require.NoError(t, store.Migrate(t.Context()))
	return store
}
