package jetstreamtest

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
)

// A cluster is one NATS server, or several that form one JetStream cluster, in this process.
type cluster struct {
	options []*server.Options
	servers []*server.Server
}

// start starts n servers that sync each write to the disk, unless change says otherwise.
func start(t testing.TB, n int, change ...func(*server.Options)) *cluster {
	t.Helper()
	c := &cluster{servers: make([]*server.Server, n)}
	routes := make([]*url.URL, n)
	for i := range routes {
		routes[i] = &url.URL{Scheme: "nats", Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(freePort(t)))}
	}
	for i := range n {
		o := &server.Options{
			ServerName: fmt.Sprint("server-", i), Host: "127.0.0.1", Port: server.RANDOM_PORT,
			JetStream: true, StoreDir: t.TempDir(), SyncAlways: true, NoLog: true, NoSigs: true,
		}
		if n > 1 {
			port, err := strconv.Atoi(routes[i].Port())
			require.NoError(t, err)
			o.Cluster = server.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: port}
			o.Routes = routes
		}
		for _, f := range change {
			f(o)
		}
		c.options = append(c.options, o)
	}
	for i := range n {
		c.run(t, i)
	}
	t.Cleanup(func() {
		for i := range n {
			c.stop(i)
		}
	})
	c.await(t)
	return c
}

// run starts the ith server with what it has stored, on the port that it has had before. The server
// chooses the first one: a port that was free a moment ago may be taken.
func (c *cluster) run(t testing.TB, i int) {
	t.Helper()
	s, err := server.NewServer(c.options[i].Clone())
	require.NoError(t, err)
	s.Start()
	c.servers[i] = s
	require.True(t, s.ReadyForConnections(20*time.Second))
	c.options[i].Port = s.Addr().(*net.TCPAddr).Port
}

func (c *cluster) stop(i int) {
	c.servers[i].Shutdown()
	c.servers[i].WaitForShutdown()
}

// await waits until JetStream takes requests.
func (c *cluster) await(t testing.TB) {
	t.Helper()
	nc := c.connect(t)
	defer nc.Close()
	require.Eventually(t, func() bool { //nolint:forbidigo // real servers
		answer, err := nc.Request("$JS.API.STREAM.NAMES", nil, time.Second)
		return err == nil && !isError(answer.Data)
	}, 30*time.Second, 20*time.Millisecond)
}

// connect connects to all servers, and closes the connection when the test has ended.
func (c *cluster) connect(t testing.TB, opts ...nats.Option) *nats.Conn {
	t.Helper()
	var urls string
	for _, o := range c.options {
		urls += fmt.Sprintf("nats://127.0.0.1:%d,", o.Port)
	}
	opts = append(opts, nats.MaxReconnects(-1), nats.ReconnectWait(10*time.Millisecond), nats.RetryOnFailedConnect(true))
	nc, err := nats.Connect(urls[:len(urls)-1], opts...)
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	return nc
}

func freePort(t testing.TB) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}
