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

	"github.com/understudy-go/understudy/singleton/lease"
	"github.com/understudy-go/understudy/singleton/lease/leasetest"
	"github.com/understudy-go/understudy/singleton/lease/postgres"
)

// Where connections of the server are fewer than those who ask, each request may get another one.
func TestBehindPgBouncer(t *testing.T) {
	s := start(t, "synchronous_commit=off")
	for mode, connections := range map[string]int{"session": 40, "transaction": 2, "statement": 2} {
		t.Run(mode, func(t *testing.T) {
			url := s.pooled(t, mode, connections)
			table := postgres.Table("behind pgbouncer", mode)
			stores := make([]*postgres.Store, 8)
			for i := range stores {
				stores[i] = openAt(t, url, table)
			}
			leasetest.Contenders(t, stores, 20)
			termsIncrease(t, stores, 20)

			grant, err := stores[0].Take(t.Context(), claim("kept", "a"))
			require.NoError(t, err)
			for _, store := range stores {
				_, err = store.Take(t.Context(), claim("kept", "b"))
				require.ErrorIs(t, err, lease.ErrHeld)
				grant, err = store.Renew(t.Context(), grant)
				require.NoError(t, err)
			}
			require.NoError(t, stores[7].Release(t.Context(), grant))
			for range 2 * connections {
				require.Equal(t, "off", sqlAt(t.Context(), t, url, "SHOW synchronous_commit"), "nothing stays in a session")
			}
		})
	}
}

func TestConformanceBehindPgBouncer(t *testing.T) {
	t.Parallel()
	s := start(t, "fsync=off")
	runLaws(t, s, s.pooled(t, "transaction", 4))
}

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
