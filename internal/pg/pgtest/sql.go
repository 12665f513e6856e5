package pgtest

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
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
	conn, err := pgx.Connect(ctx, url)
	require.NoError(t, err)
	defer conn.Close(ctx)
	result, err := conn.PgConn().Exec(ctx, statements).ReadAll()
	require.NoError(t, err)
	if last := result[len(result)-1]; len(last.Rows) > 0 {
		return string(last.Rows[0][0])
	}
	return ""
}
