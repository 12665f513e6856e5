package postgres_test

import (
	"context"
	"flag"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/cluster/placement/generation/postgres"
)

// A server is a PostgreSQL that a test has for itself, and may harm.
type server struct {
	dir      string
	port     string
	settings []string
	account  *syscall.Credential // not root, which PostgreSQL refuses
	process  *exec.Cmd
	ended    <-chan struct{} // closed when the process has ended
	log      *os.File
}

// common is the server of the tests that do not harm it.
var common *server

func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", "16") // the laws mostly wait; -parallel says otherwise
	code := m.Run()
	if common != nil {
		common.end()
		_ = os.RemoveAll(filepath.Dir(common.dir))
	}
	os.Exit(code)
}

func shared(t testing.TB) *server {
	t.Helper()
	if common == nil {
		s := create(t)
		common = s // even if it does not start
		s.run(t)
	}
	return common
}

// ownTable is a table that no other test uses.
func ownTable(t testing.TB) postgres.Option { return postgres.Table("public", t.Name()) }

// start starts a server for this test alone, with settings.
func start(t *testing.T, settings ...string) *server {
	t.Helper()
	s := create(t, settings...)
	t.Cleanup(func() {
		s.end()
		_ = os.RemoveAll(filepath.Dir(s.dir))
	})
	s.run(t)
	return s
}

// create makes a database in a directory of its own.
func create(t testing.TB, settings ...string) *server {
	t.Helper()
	bin := binaries(t)
	s := &server{settings: settings, account: account(t), port: freePort(t)}

	dir, err := os.MkdirTemp("", "understudy-postgres-") //nolint:usetesting // another account must be able to reach it
	require.NoError(t, err)
	if s.account != nil {
		require.NoError(t, os.Chown(dir, int(s.account.Uid), int(s.account.Gid)))
	}
	s.dir = filepath.Join(dir, "data")
	s.log, err = os.Create(filepath.Join(dir, "log"))
	require.NoError(t, err)

	initdb := s.command(filepath.Join(bin, "initdb"), "-D", s.dir, "-N", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C")
	out, err := initdb.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return s
}

// binaries returns where PostgreSQL is installed.
func binaries(t testing.TB) string {
	t.Helper()
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path)
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // Debian does not put it on the path
	if len(found) == 0 {
		const missing = "there is no PostgreSQL server on this machine: no initdb, on the path or in /usr/lib/postgresql"
		if os.Getenv("UNDERSTUDY_REQUIRE_SERVICES") != "" {
			t.Fatal(missing)
		}
		t.Skip(missing + "; install it (Debian: postgresql) to run this test")
	}
	return filepath.Dir(found[len(found)-1])
}

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

func (s *server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = filepath.Dir(s.dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.account}
	return cmd
}

// run starts the server and waits until it takes requests.
func (s *server) run(t testing.TB) {
	t.Helper()
	args := []string{"-D", s.dir, "-p", s.port, "-h", "127.0.0.1", "-k", filepath.Dir(s.dir)}
	for _, setting := range s.settings {
		args = append(args, "-c", setting)
	}
	launch := func() <-chan struct{} {
		s.process = s.command(filepath.Join(binaries(t), "postgres"), args...)
		s.process.Stdout, s.process.Stderr = s.log, s.log
		require.NoError(t, s.process.Start())
		ended := make(chan struct{})
		go func(p *exec.Cmd) {
			defer close(ended)
			_ = p.Wait() // it is killed
		}(s.process)
		return ended
	}
	s.ended = launch()
	deadline := time.After(time.Minute)
	for {
		conn, err := pgx.Connect(t.Context(), s.url())
		if err == nil {
			require.NoError(t, conn.Close(t.Context()))
			return
		}
		select {
		case <-deadline:
			log, _ := os.ReadFile(s.log.Name())
			t.Fatalf("the server did not start: %v\n%s", err, log)
		case <-s.ended: // as processes of the one before had not ended yet
			s.ended = launch()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// kill ends the server as a power cut would end its processes.
func (s *server) kill(t *testing.T) {
	t.Helper()
	s.signal(t, syscall.SIGKILL)
	<-s.ended
}

// outage kills the server, and end starts it again, with what it had committed.
func (s *server) outage(t *testing.T) (end func()) {
	t.Helper()
	s.kill(t)
	return func() { s.run(t) }
}

// signal sends a signal to every process of the server, and returns them.
func (s *server) signal(t *testing.T, sig syscall.Signal) (pids []string) {
	t.Helper()
	main := strconv.Itoa(s.process.Process.Pid)
	children, err := os.ReadFile("/proc/" + main + "/task/" + main + "/children")
	if err != nil {
		t.Skip("the processes of a server are found by /proc only: ", err)
	}
	pids = append([]string{main}, strings.Fields(string(children))...)
	for _, pid := range pids {
		id, err := strconv.Atoi(pid)
		require.NoError(t, err)
		_ = syscall.Kill(id, sig) // it may have ended by itself
	}
	return pids
}

// stop stops the server, until it gets a SIGCONT.
func (s *server) stop(t *testing.T) {
	t.Helper()
	for _, pid := range s.signal(t, syscall.SIGSTOP) {
		require.Eventually(t, func() bool {
			status, err := os.ReadFile("/proc/" + pid + "/status")
			return err != nil || strings.Contains(string(status), "\nState:\tT")
		}, time.Minute, time.Millisecond)
	}
}

// end ends the server whatever has become of it; its other processes see that and follow.
func (s *server) end() {
	if s.process != nil {
		_ = s.process.Process.Signal(syscall.SIGCONT)
		_ = s.process.Process.Signal(syscall.SIGQUIT)
		<-s.ended
	}
	_ = s.log.Close()
}

func (s *server) url() string { return "postgres://postgres@127.0.0.1:" + s.port + "/postgres" }

func (s *server) addr() string { return "127.0.0.1:" + s.port }

// open returns a source whose table is there.
func (s *server) open(t *testing.T, opts ...postgres.Option) *postgres.Source {
	t.Helper()
	return openAt(t, s.url(), opts...)
}

func openAt(t *testing.T, url string, opts ...postgres.Option) *postgres.Source {
	t.Helper()
	source, err := postgres.Open(url, opts...)
	require.NoError(t, err)
	t.Cleanup(source.Close)
	require.NoError(t, source.Migrate(t.Context()))
	return source
}

// sql runs a statement and returns the first column of its first row.
func (s *server) sql(t *testing.T, statement string) string {
	t.Helper()
	return sqlAt(t.Context(), t, s.url(), statement)
}

func sqlAt(ctx context.Context, t *testing.T, url, statement string) string {
	t.Helper()
	conn, err := pgx.Connect(ctx, url)
	require.NoError(t, err)
	defer conn.Close(ctx)
	result, err := conn.PgConn().Exec(ctx, statement).ReadAll()
	require.NoError(t, err)
	if last := result[len(result)-1]; len(last.Rows) > 0 {
		return string(last.Rows[0][0])
	}
	return ""
}
