package pgtest

import (
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func binaries(t testing.TB) string {
	t.Helper()
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path)
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // Debian does not put it on the path
	if len(found) == 0 {
		lack(t, "there is no PostgreSQL server on this machine: no initdb, on the path or in /usr/lib/postgresql; install it (Debian: postgresql) to run this test")
	}
	return filepath.Dir(found[len(found)-1])
}

func pgbouncer(t testing.TB) string {
	t.Helper()
	if path, err := exec.LookPath("pgbouncer"); err == nil {
		return path
	}
	const debian = "/usr/sbin/pgbouncer" // which is not on every user's path
	if _, err := os.Stat(debian); err != nil {
		lack(t, "there is no PgBouncer on this machine; install it (Debian: pgbouncer) to run this test")
	}
	return debian
}

// lack does the same as package internal/needs, on which this module does not depend.
func lack(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("UNDERSTUDY_REQUIRE_SERVICES") != "" {
		t.Fatal(what + " (UNDERSTUDY_REQUIRE_SERVICES is set)")
	}
	t.Skip(what)
}

// account is nil for the account of the test.
func account(t testing.TB) *syscall.Credential {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		u, err = user.Lookup("nobody")
	}
	require.NoError(t, err)
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	require.NoError(t, err)
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	require.NoError(t, err)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
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
