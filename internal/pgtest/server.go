package pgtest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/process"
)

// A Server is a PostgreSQL server that tests may harm, in its own directory. Make one with [Start],
// [Create] or [Shared].
type Server struct {
	// Settings apply from the next start of the server, as name=value.
	Settings []string

	dir     string
	port    string
	account *account // not root, which PostgreSQL refuses
	process *exec.Cmd
	ended   <-chan struct{} // closed when the process has ended
	log     *os.File
}

// Start starts a server with settings, for this test only.
func Start(t testing.TB, settings ...string) *Server {
	t.Helper()
	s := Create(t)
	s.Settings = settings
	s.Run(t)
	return s
}

// Create makes a server for this test only; [Server.Run] starts it.
func Create(t testing.TB) *Server {
	t.Helper()
	s := create(t)
	t.Cleanup(s.remove)
	return s
}

func create(t testing.TB) *Server {
	t.Helper()
	initdb := filepath.Join(binaries(t), "initdb")
	s := &Server{account: accountOf(t), port: freePort(t)}

	dir, err := os.MkdirTemp("", "understudy-postgres-") //nolint:usetesting // another account must be able to reach it
	require.NoError(t, err)
	s.dir = dir
	s.Own(t, dir)
	s.log, err = os.Create(filepath.Join(dir, "log"))
	require.NoError(t, err)

	out, err := s.command(initdb, "-D", s.Data(), "-N", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return s
}

// Dir returns the directory of the server. It contains [Server.Data].
func (s *Server) Dir() string { return s.dir }

// Data returns the directory of the server's databases and configuration files.
func (s *Server) Data() string { return filepath.Join(s.dir, "data") }

// Own makes the server's account the owner of a file or directory.
func (s *Server) Own(t testing.TB, path string) {
	t.Helper()
	if s.account != nil {
		require.NoError(t, os.Chown(path, int(s.account.Uid), int(s.account.Gid)))
	}
}

// URL returns the URL of the server's database, which trusts every client.
func (s *Server) URL() string { return "postgres://postgres@" + s.Addr() + "/postgres" }

// Addr returns the address at which the server listens.
func (s *Server) Addr() string { return "127.0.0.1:" + s.port }

func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = s.dir
	runAs(cmd, s.account)
	return cmd
}

// Run starts the server, with the committed data of earlier runs, and waits until it accepts
// requests.
func (s *Server) Run(t testing.TB) {
	t.Helper()
	s.launch(t)
	deadline := time.After(time.Minute)
	for {
		_, err := psql(t.Context(), t, s.URL(), "SELECT")
		if err == nil {
			return
		}
		select {
		case <-deadline:
			log, _ := os.ReadFile(s.log.Name())
			t.Fatalf("the server did not start: %v\n%s", err, log)
		case <-s.ended: // because processes of the previous run had not ended yet
			s.launch(t)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (s *Server) launch(t testing.TB) {
	t.Helper()
	args := []string{"-D", s.Data(), "-p", s.port, "-h", "127.0.0.1", "-k", s.dir}
	for _, setting := range s.Settings {
		args = append(args, "-c", setting)
	}
	server := s.command(filepath.Join(binaries(t), "postgres"), args...)
	server.Stdout, server.Stderr = s.log, s.log
	require.NoError(t, server.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Wait() // the error only says that it was killed
	}()
	s.process, s.ended = server, ended
}

// remove kills the server in any state; its other processes then end, too.
func (s *Server) remove() {
	if s.process != nil {
		_ = process.Continue(s.process.Process.Pid)
		_ = s.process.Process.Signal(syscall.SIGQUIT)
		<-s.ended
	}
	_ = s.log.Close()
	_ = os.RemoveAll(s.dir)
}

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

var common struct {
	sync.Mutex
	server *Server
}

// Main runs the tests and removes the server of [Shared]. It returns the exit code. A package whose
// tests share a server calls it in TestMain.
func Main(m *testing.M) int {
	defer func() {
		if common.server != nil {
			common.server.remove()
		}
	}()
	return m.Run()
}

// Shared returns the server shared by the tests of a package that do not harm it. The first call
// starts it. The TestMain of the package must call [Main].
func Shared(t testing.TB) *Server {
	t.Helper()
	common.Lock()
	defer common.Unlock()
	if common.server == nil {
		s := create(t)
		common.server = s // even if it does not start
		s.Run(t)
	}
	return common.server
}
