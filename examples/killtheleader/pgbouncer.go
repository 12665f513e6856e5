package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// pgbouncerPath returns the path of PgBouncer; the error says what to install.
func pgbouncerPath() (string, error) {
	if path, err := exec.LookPath("pgbouncer"); err == nil {
		return path, nil
	}
	const debian = "/usr/sbin/pgbouncer" // which is not on every user's path
	if _, err := os.Stat(debian); err != nil {
		return "", errors.New("no PgBouncer; install it (Debian: pgbouncer)")
	}
	return debian, nil
}

// pool starts a PgBouncer in front of the server, and returns the URL of a database there. Its
// clients do not prepare statements, which PgBouncer forbids in some modes.
func (s *postgresServer) pool(ctx context.Context, mode, database string) (string, error) {
	path, err := pgbouncerPath()
	if err != nil {
		return "", err
	}
	port, err := freePort()
	if err != nil {
		return "", err
	}
	users, config := filepath.Join(s.dir, mode+".users"), filepath.Join(s.dir, mode+".ini")
	lines := []string{
		"[databases]",
		"* = host=127.0.0.1 port=" + s.port,
		"[pgbouncer]",
		"listen_addr = " + s.host,
		"listen_port = " + port,
		"unix_socket_dir =",
		"auth_type = trust",
		"auth_file = " + users,
		"pool_mode = " + mode,
		"default_pool_size = 40",
		"max_client_conn = 500",
		"tcp_keepalive = 1", // as the server, see keepalives
		"tcp_keepidle = 5",
		"tcp_keepintvl = 1",
		"tcp_keepcnt = 3",
		"tcp_user_timeout = 8000",
	}
	err = errors.Join(
		os.WriteFile(users, []byte("\"postgres\" \"\"\n"), 0o644),           //nolint:gosec // another account reads it
		os.WriteFile(config, []byte(strings.Join(lines, "\n")+"\n"), 0o644), //nolint:gosec // another account reads it
	)
	if err != nil {
		return "", err
	}
	pooler, err := s.start(path, "-q", config)
	if err != nil {
		return "", err
	}
	s.poolers = append(s.poolers, pooler)
	url := fmt.Sprintf("postgres://postgres@%s/%s?sslmode=disable&default_query_exec_mode=exec", net.JoinHostPort(s.host, port), database)
	return url, awaitPostgres(ctx, url)
}
