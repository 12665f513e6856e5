package transport_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/understudy-go/understudy/internal/transport"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/actor"
	"github.com/understudy-go/understudy/internal/effort"
)

// A tcpNetwork is the network of the operating system, less datagrams, for a node that reads slowly
// or is killed.
type tcpNetwork struct {
	slow bool

	mu    sync.Mutex // guards all below
	open  []interface{ Close() error }
	ended bool
}

func (n *tcpNetwork) use(cfg *transport.Config) { cfg.Network = n }

func (n *tcpNetwork) Listen(addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	n.note(l)
	return tcpListener{l, n}, nil
}

func (n *tcpNetwork) Dial(ctx context.Context, addr string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", addr)
}

func (n *tcpNetwork) ListenPacket(addr string) (net.PacketConn, error) {
	return net.ListenPacket("udp", addr)
}

func (n *tcpNetwork) note(c interface{ Close() error }) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.open = append(n.open, c)
	if n.ended {
		_ = c.Close()
	}
}

// kill ends all connections to the node at once, and its listener, as the end of its process does.
func (n *tcpNetwork) kill() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ended = true
	for _, c := range n.open {
		_ = c.Close()
	}
}

type tcpListener struct {
	net.Listener
	net *tcpNetwork
}

func (l tcpListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	_ = c.(*net.TCPConn).SetLinger(0)
	l.net.note(c)
	if l.net.slow {
		return slowConn{c}, nil
	}
	return c, nil
}

// A slowConn reads at most 100 kB per millisecond.
type slowConn struct{ net.Conn }

func (c slowConn) Read(to []byte) (int, error) {
	n, err := c.Conn.Read(to)
	time.Sleep(time.Duration(n) * time.Millisecond / 100_000) // in real time
	return n, err
}

// A sequence notes which of the numbers that one actor counts up have come.
type sequence struct {
	mu   sync.Mutex // guards all
	came map[int]bool
	last int
	late int // numbers that came after a higher one
}

func newSequence() *sequence { return &sequence{came: make(map[int]bool), last: -1} }

func (s *sequence) add(i int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.came[i] = true
	if i <= s.last {
		s.late++
	}
	s.last = i
}

func (s *sequence) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.came)
}

func TestAnActorThatTells300000WithoutPauseLosesNoneOverRealTCP(t *testing.T) {
	n := effort.Of(30_000, 300_000, 300_000)
	a, b := startTCP(t), startTCP(t)
	got := newSequence()
	actor.Spawn(b.sys, receive(got.add), "inbox")
	spawnFlood(a, ref[int](a, b, "/user/inbox"), "flood", func() {}).Tell(n)
	eventually(t, func() bool { return got.len()+a.lost.len() == n })
	require.Empty(t, a.lost.got())
	require.Zero(t, got.late)
}

func TestMemoryIsBoundedWhileAnActorTellsASlowNodeOverRealTCP(t *testing.T) {
	effort.Verify(t)
	const n, size = 100_000, 1000
	a := startTCP(t, func(cfg *transport.Config) { cfg.OutboxBytes = 1 << 20 })
	b := startTCP(t, (&tcpNetwork{slow: true}).use)
	got := newSequence()
	actor.Spawn(b.sys, receive(func(m string) { got.add(got.len()) }), "inbox")
	to := ref[string](a, b, "/user/inbox")
	text := strings.Repeat("x", size)
	before, peak := heap(), int64(0)
	for i := range n {
		to.Tell(text)
		if i%(n/20) == 0 {
			peak = max(peak, heap())
		}
	}
	eventually(t, func() bool { return got.len()+a.lost.len() == n })
	require.Empty(t, a.lost.got())
	t.Logf("%d MB", (peak-before)>>20)
	require.Less(t, peak-before, int64(n*size/4))
}

func TestASenderGoesOnWhenItsPeerIsKilledOverRealTCP(t *testing.T) {
	n := effort.Of(6_000, 60_000, 60_000)
	network := &tcpNetwork{}
	a := startTCP(t, func(cfg *transport.Config) { cfg.UnreachableAfter = 2 * time.Second })
	b := startTCP(t, network.use)
	got := newSequence()
	actor.Spawn(b.sys, receive(got.add), "inbox")
	to := ref[int](a, b, "/user/inbox")
	var longest time.Duration
	for i := range n {
		if i == n/3 {
			network.kill()
		}
		begin := time.Now()
		to.Tell(i)
		longest = max(longest, time.Since(begin))
	}
	require.Less(t, longest, 1500*time.Millisecond)
	missing := func() (count int) {
		lost := make(map[int]bool)
		for _, l := range a.lost.got() {
			lost[l.Message.(int)] = errors.Is(l.Reason, actor.ErrUnreachable)
		}
		got.mu.Lock()
		defer got.mu.Unlock()
		for i := range n {
			if !got.came[i] && !lost[i] {
				count++
			}
		}
		return count
	}
	eventually(t, func() bool { return a.lost.len()+got.len() >= n })
	eventually(t, func() bool { return missing() == 0 })
	require.Zero(t, got.late)
}
