package etcdtest

import (
	"flag"
	"net"
	"net/url"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"

	"github.com/understudy-go/understudy/internal/process"
	"github.com/understudy-go/understudy/singleton/lease/etcd"
)

// Set in the process that is a server: where its data is, and where it listens.
const (
	dirVariable    = "UNDERSTUDY_TEST_ETCD_DIR"
	clientVariable = "UNDERSTUDY_TEST_ETCD_CLIENT"
	peerVariable   = "UNDERSTUDY_TEST_ETCD_PEER"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(dirVariable); dir != "" {
		serve(dir, os.Getenv(clientVariable), os.Getenv(peerVariable))
	}
	_ = flag.Set("test.parallel", "8") // the laws mostly wait; -parallel says otherwise
	code := m.Run()
	if common != nil {
		common.process.Kill()
		_ = os.RemoveAll(common.dir)
	}
	os.Exit(code)
}

// serve is an etcd until its process is killed.
func serve(dir, client, peer string) {
	config := embed.NewConfig()
	config.Dir, config.LogLevel = dir, "error"
	clients, peers := url.URL{Scheme: "http", Host: client}, url.URL{Scheme: "http", Host: peer}
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{clients}, []url.URL{clients}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{peers}, []url.URL{peers}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	server, err := embed.StartEtcd(config)
	if err != nil {
		panic(err)
	}
	panic(<-server.Err())
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

// run starts the process and waits until it takes requests.
func (s *server) run(t testing.TB) {
	t.Helper()
	cmd := process.Self([]string{dirVariable + "=" + s.dir, clientVariable + "=" + s.client, peerVariable + "=" + s.peer})
	cmd.Stdout = os.Stderr
	var err error
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
