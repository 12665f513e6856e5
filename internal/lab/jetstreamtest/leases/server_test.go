package leases

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	js "github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/persistence/jetstream"
)

func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", "16") // the laws mostly wait; -parallel says otherwise
	os.Exit(m.Run())
}

// A cluster is one NATS server, or several that are one JetStream, in this process.
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
			ServerName: fmt.Sprint("server-", i), Host: "127.0.0.1", Port: freePort(t),
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
	return c
}

// freePort returns a port that no client gets by chance while a server is away: those of
// Linux begin at 32768.
func freePort(t testing.TB) int {
	t.Helper()
	for {
		listener, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", 20_000+rand.N(12_000)))
		if err == nil {
			require.NoError(t, listener.Close())
			return listener.Addr().(*net.TCPAddr).Port
		}
	}
}

// run starts the ith server with what it has stored.
func (c *cluster) run(t testing.TB, i int) {
	t.Helper()
	s, err := server.NewServer(c.options[i].Clone())
	require.NoError(t, err)
	s.Start()
	c.servers[i] = s
	require.True(t, s.ReadyForConnections(20*time.Second))
}

func (c *cluster) stop(i int) {
	c.servers[i].Shutdown()
	c.servers[i].WaitForShutdown()
}

// outage stops all servers, and end starts them again.
func (c *cluster) outage(t *testing.T) (end func()) {
	t.Helper()
	for i := range c.servers {
		c.stop(i)
	}
	return func() {
		for i := range c.servers {
			c.run(t, i)
		}
	}
}

// leader returns the number of the server that leads the stream of the bucket.
func (c *cluster) leader(t *testing.T, bucket string) int {
	t.Helper()
	for {
		for i, s := range c.servers {
			if s.JetStreamIsStreamLeader("$G", "KV_"+bucket) {
				return i
			}
		}
		select {
		case <-t.Context().Done():
			require.Fail(t, "there is no leader")
		case <-time.After(10 * time.Millisecond): // real servers elect it
		}
	}
}

// current waits until all servers have all of the bucket.
func (c *cluster) current(t *testing.T, bucket string) {
	t.Helper()
	api := client(t, connect(t, c.urls()))
	require.Eventually(t, func() bool { //nolint:forbidigo // real servers
		stream, err := api.Stream(t.Context(), "KV_"+bucket)
		if err != nil {
			return false
		}
		info := stream.CachedInfo().Cluster
		return info.Leader != "" && !slices.ContainsFunc(info.Replicas, func(p *js.PeerInfo) bool { return p.Offline || !p.Current })
	}, 30*time.Second, 20*time.Millisecond)
}

func (c *cluster) addr(i int) string { return fmt.Sprint("127.0.0.1:", c.options[i].Port) }

// urls are those of all servers.
func (c *cluster) urls() string {
	var urls string
	for i := range c.options {
		urls += ",nats://" + c.addr(i)
	}
	return urls[1:]
}

// connect connects to servers, and closes the connection when the test has ended.
func connect(t testing.TB, urls string, opts ...nats.Option) *nats.Conn {
	t.Helper()
	opts = append(opts, nats.MaxReconnects(-1), nats.ReconnectWait(10*time.Millisecond), nats.RetryOnFailedConnect(true))
	nc, err := nats.Connect(urls, opts...)
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	return nc
}

// open opens leases in a bucket that all servers have.
func (c *cluster) open(t testing.TB, bucket string) *jetstream.Leases {
	t.Helper()
	return openAt(t, c.urls(), jetstream.LeasesConfig{Bucket: bucket, Replicas: len(c.servers)})
}

// openAt opens leases as soon as the servers are ready.
func openAt(t testing.TB, urls string, config jetstream.LeasesConfig) *jetstream.Leases {
	t.Helper()
	nc := connect(t, urls)
	var store *jetstream.Leases
	var err error
	require.Eventually(t, func() bool { //nolint:forbidigo // real servers
		store, err = jetstream.OpenLeases(t.Context(), nc, config)
		return err == nil
	}, 30*time.Second, 20*time.Millisecond, "%v", err)
	return store
}

// bucket opens leases in a bucket, and returns what an administrator has of it.
func (c *cluster) bucket(t *testing.T, name string) js.KeyValue {
	t.Helper()
	c.open(t, name)
	kv, err := client(t, connect(t, c.urls())).KeyValue(t.Context(), name)
	require.NoError(t, err)
	return kv
}

func client(t *testing.T, nc *nats.Conn) js.JetStream {
	t.Helper()
	api, err := js.New(nc)
	require.NoError(t, err)
	return api
}
