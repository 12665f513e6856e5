package postgres_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/pgtest"
)

// The program of examples/orders on a server, whose clock its timers go by.
func TestTheOrdersExampleKeepsItsRunsInPostgreSQL(t *testing.T) {
	s := pgtest.Shared(t)
	program := filepath.Join(t.TempDir(), "orders")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./orders").CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = exec.CommandContext(t.Context(), program, "-journal", s.URL(), "-orders", "150").CombinedOutput()
	t.Logf("\n%s", out)
	require.NoError(t, err)
	require.Contains(t, string(out), "by the ledger, each order was charged once or not at all")
	require.Equal(t, "0", s.SQL(t, "SELECT count(*) FROM understudy_orders.understudy_timer"))
}
