package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/understudy-go/understudy/internal/process"
)

// keepalives are the settings with which the server notices within eight seconds that a client is
// cut off. With the defaults of Linux it takes two hours, and an advisory lock stays that long.
var keepalives = []string{
	"tcp_keepalives_idle=5", "tcp_keepalives_interval=1", "tcp_keepalives_count=3", "tcp_user_timeout=8000",
}

// A postgresServer is a PostgreSQL server with its data in a temporary directory.
type postgresServer struct {
	dir, host, port string
	account         *syscall.Credential // not root, which PostgreSQL refuses
	log             *os.File
	process         *process.Process
	poolers         []*process.Process
}

// errNoPostgres says that the machine has no PostgreSQL server.
var errNoPostgres = errors.New("no PostgreSQL server: no initdb on the path or in /usr/lib/postgresql; install it (Debian: postgresql)")

// startPostgres starts a server that clients reach at a host and at 127.0.0.1.
func startPostgres(ctx context.Context, host string) (*postgresServer, error) {
	bin, err := postgresBinaries()
	if err != nil {
		return nil, err
	}
	s := &postgresServer{host: host}
	if err := s.create(filepath.Join(bin, "initdb")); err != nil {
		s.close()
		return nil, err
	}
	args := []string{"-D", s.data(), "-p", s.port, "-h", "127.0.0.1," + host, "-k", s.dir, "-c", "max_connections=300"}
	for _, setting := range keepalives {
		args = append(args, "-c", setting)
	}
	if s.process, err = s.start(filepath.Join(bin, "postgres"), args...); err == nil {
		err = awaitPostgres(ctx, s.url("postgres"))
	}
	if err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// postgresBinaries returns the directory of the PostgreSQL programs.
func postgresBinaries() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path), nil
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // Debian does not put it on the path
	if len(found) == 0 {
		return "", errNoPostgres
	}
	return filepath.Dir(found[len(found)-1]), nil
}

// create makes the data directory, which trusts every client on the host's network.
func (s *postgresServer) create(initdb string) (err error) {
	if s.dir, err = os.MkdirTemp("", "killtheleader-postgres-"); err != nil {
		return err
	}
	if s.account, err = serverAccount(); err != nil {
		return err
	}
	if s.account != nil {
		if err := os.Chown(s.dir, int(s.account.Uid), int(s.account.Gid)); err != nil {
			return err
		}
	}
	if s.log, err = os.Create(filepath.Join(s.dir, "log")); err != nil {
		return err
	}
	if s.port, err = freePort(); err != nil {
		return err
	}
	out, err := s.command(initdb, "-D", s.data(), "-N", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C").CombinedOutput()
	if err != nil {
		return fmt.Errorf("initdb: %w: %s", err, out)
	}
	return os.WriteFile(filepath.Join(s.data(), "pg_hba.conf"), []byte("local all all trust\nhost all all samenet trust\n"), 0o644) //nolint:gosec // another account reads it
}

func (s *postgresServer) data() string { return filepath.Join(s.dir, "data") }

// url returns the URL of a database.
func (s *postgresServer) url(database string) string {
	return fmt.Sprintf("postgres://postgres@%s/%s?sslmode=disable", net.JoinHostPort(s.host, s.port), database)
}

func (s *postgresServer) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.account}
	return cmd
}

func (s *postgresServer) start(name string, args ...string) (*process.Process, error) {
	cmd := s.command(name, args...)
	cmd.Stdout, cmd.Stderr = s.log, s.log
	return process.Start(cmd)
}

// database makes a database with a schema, and returns its URL.
func (s *postgresServer) database(ctx context.Context, name, schema string) (url string, err error) {
	if err := execute(ctx, s.url("postgres"), fmt.Sprintf("CREATE DATABASE %q", name)); err != nil {
		return "", err
	}
	return s.url(name), execute(ctx, s.url(name), schema)
}

func execute(ctx context.Context, url, statements string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.PgConn().Exec(ctx, statements).ReadAll()
	return err
}

// close ends the server and its poolers, and removes the data.
func (s *postgresServer) close() {
	for _, p := range s.poolers {
		p.Kill()
	}
	if s.process != nil {
		_ = s.process.Signal(syscall.SIGQUIT) // it may have ended
		_ = s.process.Wait()
	}
	if s.log != nil {
		_ = s.log.Close()
	}
	_ = os.RemoveAll(s.dir)
}

// awaitPostgres returns when a connection succeeds.
func awaitPostgres(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		conn, err := pgx.Connect(ctx, url)
		if err == nil {
			return conn.Close(ctx)
		}
		if ctx.Err() != nil {
			return fmt.Errorf("wait for PostgreSQL: %w", err)
		}
		pause(ctx, 50*time.Millisecond)
	}
}

// serverAccount returns the account that servers run as, or nil for the account of this process.
func serverAccount() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		u, err = user.Lookup("nobody")
	}
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, err
}

func freePort() (string, error) {
	free, err := process.FreeAddresses(1)
	if err != nil {
		return "", err
	}
	return strings.TrimPrefix(free[0], "127.0.0.1:"), nil
}
