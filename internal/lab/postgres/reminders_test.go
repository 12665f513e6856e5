package postgres_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/pgtest"
)

// The program of examples/reminders on a server, whose clock its timers go by.
func TestTheRemindersExampleKeepsItsTimersInPostgreSQL(t *testing.T) {
	s := pgtest.Shared(t)
	program := filepath.Join(t.TempDir(), "reminders")
	out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./reminders").CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = exec.CommandContext(t.Context(), program, "-journal", s.URL()).CombinedOutput()
	t.Logf("\n%s", out)
	require.NoError(t, err)
	require.Regexp(t, `[1-9]\d* were cancelled, and 0 of these delivered`, string(out))
	require.Equal(t, "0", s.SQL(t, "SELECT count(*) FROM understudy_reminders.understudy_timer"))
}
