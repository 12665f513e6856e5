//go:build linux && !race

package cluster

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/remote"
)

var sockets = flag.Int("sockets", 0, "of how many nodes the cluster on loopback is that is measured in real time; 0 is none")

// The test measures the cost of nodes over the sockets of the operating system, in real time, so it
// runs only on request. docs/performance.md has the figures that it prints.
func TestNodesOnLoopbackCostLittle(t *testing.T) {
	if *sockets == 0 {
		t.Skip("measures for half a minute of real time; run with -sockets=20")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var traffic traffic
	memory, begin := resident(t), time.Now()
	nodes := startOnLoopback(ctx, t, *sockets, &traffic)
	for _, n := range nodes {
		for v := range n.Views(ctx) {
			if v.Converged && len(v.Members) == *sockets {
				break
			}
		}
	}
	t.Logf("%d nodes on loopback agree %v after the start", *sockets, time.Since(begin).Round(time.Millisecond))

	time.Sleep(5 * time.Second)
	const watched = 20 * time.Second
	before, busy := traffic.read(), processorTime(t)
	time.Sleep(watched)
	perNode := watched.Seconds() * float64(*sockets)
	rest := traffic.read().since(before).over(perNode)
	percent := 100 * (processorTime(t) - busy).Seconds() / perNode
	t.Logf("at rest each node sends %v a second, takes %.2f %% of a processor and %d KB of memory", rest, percent, (resident(t)-memory)/int64(*sockets)>>10)
	require.Less(t, rest.datagrams, 150.0)
	require.Less(t, rest.bytes, 30_000.0)

	var all sync.WaitGroup
	for _, n := range nodes {
		all.Go(func() { _ = n.Shutdown(ctx) }) // the end of all nodes at once is not measured
	}
	all.Wait()
}

func startOnLoopback(ctx context.Context, t *testing.T, n int, traffic *traffic) []*Node {
	t.Helper()
	seed := freeAddress(t)
	nodes, failures := make([]*Node, n), make([]error, n)
	var all sync.WaitGroup
	for i := range nodes {
		cfg := Config{
			Name:    "loopback",
			NodeID:  fmt.Sprintf("n%d", i+1),
			Bind:    "127.0.0.1:0",
			Seeds:   []string{seed},
			Network: countingNetwork{systemNetwork{}, traffic},
			Logger:  logger(t),
		}
		if i == 0 {
			cfg.Bind = seed
		}
		all.Go(func() { nodes[i], failures[i] = Start(ctx, cfg) })
	}
	all.Wait()
	for _, err := range failures {
		require.NoError(t, err)
	}
	return nodes
}

// A systemNetwork is the TCP and UDP of the operating system.
type systemNetwork struct{}

var _ remote.Network = systemNetwork{}

func (systemNetwork) Listen(addr string) (net.Listener, error) { return net.Listen("tcp", addr) }

func (systemNetwork) Dial(ctx context.Context, addr string) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", addr)
}

func (systemNetwork) ListenPacket(addr string) (net.PacketConn, error) {
	conn, err := net.ListenPacket("udp", addr)
	if err != nil {
		return nil, err
	}
	return systemPackets{conn.(*net.UDPConn)}, nil
}

// systemPackets is a UDP socket that accepts any kind of numeric address to write to.
type systemPackets struct{ *net.UDPConn }

func (s systemPackets) WriteTo(b []byte, to net.Addr) (int, error) {
	addr, err := netip.ParseAddrPort(to.String())
	if err != nil {
		return 0, err
	}
	return s.WriteToUDPAddrPort(b, addr)
}

// processorTime returns the processor time that this process has used.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var use syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &use))
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

func resident(t *testing.T) int64 {
	t.Helper()
	data, err := os.ReadFile("/proc/self/statm")
	require.NoError(t, err)
	pages, err := strconv.ParseInt(string(bytes.Fields(data)[1]), 10, 64)
	require.NoError(t, err)
	return pages * int64(os.Getpagesize())
}
