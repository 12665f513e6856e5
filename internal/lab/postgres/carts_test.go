package postgres_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/pgtest"
)

// The program of examples/carts on a server, twice in one database: the second cluster continues
// with the coordinator's journal of the first one.
func TestTheCartsExampleKeepsItsItemsInPostgreSQL(t *testing.T) {
	s := pgtest.Shared(t)
	program := filepath.Join(t.TempDir(), "carts")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./carts").CombinedOutput()
	require.NoError(t, err, "%s", out)
	for range 2 {
		out, err := exec.CommandContext(t.Context(), program, "-journal", s.URL()).CombinedOutput()
		t.Logf("\n%s", out)
		require.NoError(t, err)
		require.Regexp(t, `all \d{2,} acknowledged items are in their carts, each once`, string(out))
	}
	require.Equal(t, "1", s.SQL(t, "SELECT count(*) FROM understudy_carts.understudy_entity WHERE pid = 'sharding/coordinator'"))
}
