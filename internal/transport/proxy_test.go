package transport_test

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/understudy-go/understudy/internal/memnet"
)

// A proxy stands between two nodes, as address translation does, and can cut the connections
// through it.
type proxy struct {
	addr  string
	host  *memnet.Host
	tasks sync.WaitGroup

	mu    sync.Mutex // guards all below
	to    string
	ends  map[net.Conn]bool
	count int
}

// startProxy starts a proxy on its own host.
func startProxy(t testing.TB, n *memnet.Network, name, to string) *proxy {
	t.Helper()
	p := &proxy{addr: name + ":9000", host: n.Host(name), to: to, ends: map[net.Conn]bool{}}
	l, err := p.host.Listen(p.addr)
	require.NoError(t, err)
	p.tasks.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			p.tasks.Go(func() { p.forward(conn) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		p.cut()
		p.tasks.Wait()
	})
	return p
}

func (p *proxy) forward(near net.Conn) {
	p.mu.Lock()
	to := p.to
	p.mu.Unlock()
	far, err := p.host.Dial(context.Background(), to)
	if err != nil {
		_ = near.Close()
		return
	}
	p.mu.Lock()
	p.ends[near], p.ends[far] = true, true
	p.count++
	p.mu.Unlock()
	p.tasks.Go(func() { p.copy(near, far) })
	p.copy(far, near)
}

func (p *proxy) copy(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	_, _ = to.Close(), from.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.ends, to)
	delete(p.ends, from)
}

// cut ends all connections.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.ends {
		_ = conn.Close()
	}
}

// open returns how many connections there are.
func (p *proxy) open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.ends) / 2
}

// connections returns how many connections there have been.
func (p *proxy) connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.count
}

// redirect cuts all connections, and leads the next ones to another address.
func (p *proxy) redirect(to string) {
	p.mu.Lock()
	p.to = to
	p.mu.Unlock()
	p.cut()
}
