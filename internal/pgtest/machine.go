package pgtest

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/needs"
)

func binaries(t testing.TB) string {
	t.Helper()
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path)
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // Debian does not put it on the path
	if len(found) == 0 {
		needs.Missing(t, "there is no PostgreSQL server on this machine: no initdb, on the path or in /usr/lib/postgresql; install it (Debian: postgresql) to run this test")
	}
	return filepath.Dir(found[len(found)-1])
}

// client is the psql beside initdb. Debian's on the path is a script that takes longer to start.
func client(t testing.TB) string {
	t.Helper()
	initdb, err := filepath.EvalSymlinks(filepath.Join(binaries(t), "initdb"))
	require.NoError(t, err)
	path := filepath.Join(filepath.Dir(initdb), "psql")
	if _, err := os.Stat(path); err != nil {
		return "psql"
	}
	return path
}

func pgbouncer(t testing.TB) string {
	t.Helper()
	if path, err := exec.LookPath("pgbouncer"); err == nil {
		return path
	}
	const debian = "/usr/sbin/pgbouncer" // which is not on every user's path
	if _, err := os.Stat(debian); err != nil {
		needs.Missing(t, "there is no PgBouncer on this machine; install it (Debian: pgbouncer) to run this test")
	}
	return debian
}

func freePort(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	return port
}
