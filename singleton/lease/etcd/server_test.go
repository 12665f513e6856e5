package etcd_test

import (
	"flag"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/understudy-go/understudy/internal/needs"
	"github.com/understudy-go/understudy/internal/process"
	"github.com/understudy-go/understudy/singleton/lease/etcd"
)

func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", "8") // the laws mostly wait; -parallel says otherwise
	code := m.Run()
	if common != nil {
		common.process.Kill()
		_ = os.RemoveAll(common.dir)
	}
	os.Exit(code)
}

// A server is an etcd in a process of its own, which a test may harm.
type server struct {
	dir, client, peer string
	process           *process.Process
}

// common is the server of the tests that do not harm it.
var common *server

func shared(t testing.TB) *server {
	t.Helper()
	if common == nil {
		dir, err := os.MkdirTemp("", "understudy-etcd-") //nolint:usetesting // it is there for all tests
		require.NoError(t, err)
		s := &server{dir: dir, client: freeAddr(t), peer: freeAddr(t)}
		s.run(t)
		common = s
	}
	return common
}

// start starts a server for this test alone.
func start(t *testing.T) *server {
	t.Helper()
	s := &server{dir: t.TempDir(), client: freeAddr(t), peer: freeAddr(t)}
	s.run(t)
	t.Cleanup(func() { s.kill(t) })
	return s
}

func freeAddr(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	return listener.Addr().String()
}

// run starts the process and waits until it takes requests. Debian's etcd may be 3.4: what the
// package needs of a newer one concerns a leader that is partitioned from other members.
func (s *server) run(t testing.TB) {
	t.Helper()
	path, err := exec.LookPath("etcd")
	if err != nil {
		needs.Missing(t, "there is no etcd on this machine; install it (Debian: etcd-server) to run this test")
	}
	clients, peers := "http://"+s.client, "http://"+s.peer
	cmd := exec.Command(path, "--data-dir="+s.dir, "--logger=zap", "--log-level=error",
		"--listen-client-urls="+clients, "--advertise-client-urls="+clients,
		"--listen-peer-urls="+peers, "--initial-advertise-peer-urls="+peers, "--initial-cluster=default="+peers)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	s.process, err = process.Start(cmd)
	require.NoError(t, err)
	client := connect(t, s.client)
	defer client.Close()
	_, err = client.Get(t.Context(), "x")
	require.NoError(t, err)
}

func (s *server) kill(t *testing.T) {
	t.Helper()
	s.signal(t, syscall.SIGCONT)
	s.process.Kill()
}

// outage kills the server, and end starts it again, with what it had committed.
func (s *server) outage(t *testing.T) (end func()) {
	t.Helper()
	s.kill(t)
	return func() { s.run(t) }
}

func (s *server) signal(t *testing.T, sig syscall.Signal) {
	t.Helper()
	require.NoError(t, s.process.Signal(sig))
}

// stop stops the server, until it gets a SIGCONT.
func (s *server) stop(t *testing.T) {
	t.Helper()
	s.signal(t, syscall.SIGSTOP)
	var status syscall.WaitStatus
	_, err := syscall.Wait4(s.process.PID(), &status, syscall.WUNTRACED, nil) // until each thread has
	require.NoError(t, err)
	require.True(t, status.Stopped())
}

func (s *server) open(t *testing.T, opts ...etcd.Option) *etcd.Store {
	t.Helper()
	return openAt(t, s.client, opts...)
}

func openAt(t *testing.T, addr string, opts ...etcd.Option) *etcd.Store {
	t.Helper()
	client := connect(t, addr)
	t.Cleanup(func() { _ = client.Close() })
	store, err := etcd.New(client, opts...)
	require.NoError(t, err)
	return store
}

func connect(t testing.TB, addr string) *clientv3.Client {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{
		Endpoints:            []string{"http://" + addr},
		DialKeepAliveTime:    10 * time.Second,
		DialKeepAliveTimeout: 3 * time.Second,
		Logger:               zap.NewNop(),
	})
	require.NoError(t, err)
	return client
}

// connected returns a client that is closed when the test has ended.
func connected(t *testing.T, s *server) *clientv3.Client {
	t.Helper()
	client := connect(t, s.client)
	t.Cleanup(func() { _ = client.Close() })
	return client
}
