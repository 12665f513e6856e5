package postgres_test

import (
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/pg/pgtest"
	"github.com/understudy-go/understudy/singleton/generation/postgres"
)

func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", "16") // the laws mostly wait; -parallel says otherwise
	os.Exit(pgtest.Main(m))
}

// ownTable is a table that no other test uses.
func ownTable(t testing.TB) postgres.Option { return postgres.Table("public", t.Name()) }

// openAt returns a source whose table is there.
func openAt(t *testing.T, url string, opts ...postgres.Option) *postgres.Source {
	t.Helper()
	source, err := postgres.Open(url, opts...)
	require.NoError(t, err)
	t.Cleanup(source.Close)
	require.NoError(t, source.Migrate(t.Context()))
	return source
}
