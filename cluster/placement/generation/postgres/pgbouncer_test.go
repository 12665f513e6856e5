package postgres_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// pooled starts a PgBouncer before the server, and returns the URL of the database there.
func (s *server) pooled(t *testing.T, mode string, connections int) string {
	t.Helper()
	path, err := exec.LookPath("pgbouncer")
	if err != nil {
		path = "/usr/sbin/pgbouncer" // Debian's, which is not on the path of everybody
		if _, err = os.Stat(path); err != nil {
			const missing = "there is no PgBouncer on this machine"
			if os.Getenv("UNDERSTUDY_REQUIRE_SERVICES") != "" {
				t.Fatal(missing)
			}
			t.Skip(missing + "; install it (Debian: pgbouncer) to run this test")
		}
	}
	dir, port := filepath.Dir(s.dir), freePort(t)
	users, config := filepath.Join(dir, mode+".users"), filepath.Join(dir, mode+".ini")
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
	require.Eventually(t, func() bool {
		conn, err := pgx.Connect(t.Context(), url)
		if err == nil {
			_ = conn.Close(t.Context())
		}
		return err == nil
	}, time.Minute, 20*time.Millisecond, "PgBouncer takes no connections")
	return url
}
