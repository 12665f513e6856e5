package postgres_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/pgtest"
)

// The program of make effects on a server. A stopped node keeps its connections, and may be in the
// middle of a transaction.
func TestTheEffectsOfWorkflowsAreMadeOnceWithTheJournalInPostgreSQL(t *testing.T) {
	s := pgtest.Shared(t)
	program := filepath.Join(t.TempDir(), "effects")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./effects").CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = exec.CommandContext(t.Context(), program,
		"-journal", s.URL(), "-effects", "5000", "-spread", "25s", "-shortest", "7s", "-longest", "7500ms").CombinedOutput()
	t.Logf("\n%s", out)
	require.NoError(t, err)
	require.Contains(t, string(out), "journal: 200 runs done, 5000 steps with an outcome")
	require.Contains(t, string(out), "each effect was made once, and none by a process that was replaced")
}
