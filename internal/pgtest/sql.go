package pgtest

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// SQL runs statements, separated by semicolons, and returns the first column of the first row of
// the last one, or "" without rows.
func (s *Server) SQL(t testing.TB, statements string) string {
	t.Helper()
	return SQL(t.Context(), t, s.URL(), statements)
}

// SQL is [Server.SQL] with another URL, for example the URL of a pooler.
func SQL(ctx context.Context, t testing.TB, url, statements string) string {
	t.Helper()
	out, err := psql(ctx, t, url, statements)
	require.NoError(t, err, "%s", out)
	row, _, _ := strings.Cut(strings.TrimSuffix(out, rowEnd), rowEnd)
	column, _, _ := strings.Cut(row, columnEnd)
	return column
}

// What psql prints after a column and a row.
const columnEnd, rowEnd = "\x1f", "\x1e"

// psql sends the statements as one message. It is used in place of a driver, so that programs with
// such tests need none.
func psql(ctx context.Context, t testing.TB, url, statements string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(ctx, client(t), url, "-XqAt", "-F", columnEnd, "-R", rowEnd,
		"-v", "ON_ERROR_STOP=1", "-v", "SHOW_ALL_RESULTS=off", "-c", statements)
	out, err := cmd.CombinedOutput()
	return strings.TrimSuffix(string(out), "\n"), err
}
