package postgres_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/pgtest"
)

func TestRunsThatSleepComeBackAlthoughAProcessIsKilled(t *testing.T) {
	s := pgtest.Shared(t)
	program := filepath.Join(t.TempDir(), "sleepers")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./sleepers").CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = exec.CommandContext(t.Context(), program, "-journal", s.URL(), "-runs", "500", "-span", "15s").CombinedOutput()
	t.Logf("\n%s", out)
	require.NoError(t, err)
	require.Contains(t, string(out), "second steps: 500")
}
