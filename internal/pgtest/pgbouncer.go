package pgtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// PgBouncer starts a PgBouncer in front of the server, for this test only. It returns the URL of
// the database there, which ends with parameters. mode is its pool_mode; connections is the number
// of its connections to the server.
func (s *Server) PgBouncer(t testing.TB, mode string, connections int) string {
	t.Helper()
	path, port := pgbouncer(t), freePort(t)
	users, config := filepath.Join(s.dir, mode+".users"), filepath.Join(s.dir, mode+".ini")
	require.NoError(t, os.WriteFile(users, []byte("\"postgres\" \"\"\n"), 0o644))
	require.NoError(t, os.WriteFile(config, []byte(strings.Join([]string{
		"[databases]",
		"postgres = host=127.0.0.1 port=" + s.port,
		"[pgbouncer]",
		"listen_addr = 127.0.0.1",
		"listen_port = " + port,
		"unix_socket_dir =",
		"auth_type = trust",
		"auth_file = " + users,
		"pool_mode = " + mode,
		fmt.Sprint("default_pool_size = ", connections),
		"max_client_conn = 500",
		"server_login_retry = 0.1",
	}, "\n")+"\n"), 0o644))

	pooler := s.command(path, "-q", config)
	pooler.Stdout, pooler.Stderr = s.log, s.log
	require.NoError(t, pooler.Start())
	t.Cleanup(func() {
		_ = pooler.Process.Signal(syscall.SIGTERM)
		_ = pooler.Wait()
	})
	url := "postgres://postgres@127.0.0.1:" + port + "/postgres?sslmode=disable"
	require.Eventually(t, func() bool { //nolint:forbidigo // a real server
		_, err := psql(t.Context(), t, url, "SELECT")
		return err == nil
	}, time.Minute, 20*time.Millisecond, "PgBouncer takes no connections")
	return url
}
