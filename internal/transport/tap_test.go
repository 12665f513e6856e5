package transport_test

import (
	"context"
	"net"
	"sync"

	"github.com/understudy-go/understudy/internal/transport"

	"github.com/understudy-go/understudy/internal/memnet"
)

// A tap is a network that records the traffic of a host.
type tap struct {
	*memnet.Host
	mu    sync.Mutex // guards all below
	heard []byte
	sent  [][]byte // datagrams
}

func (p *tap) hear(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.heard = append(p.heard, b...)
}

func (p *tap) all() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return string(p.heard)
}

func (p *tap) datagrams() [][]byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sent
}

func (p *tap) Dial(ctx context.Context, addr string) (net.Conn, error) {
	conn, err := p.Host.Dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	return &tappedConn{conn, p}, nil
}

func (p *tap) ListenPacket(addr string) (net.PacketConn, error) {
	conn, err := p.Host.ListenPacket(addr)
	if err != nil {
		return nil, err
	}
	return &tappedPackets{conn, p}, nil
}

type tappedConn struct {
	net.Conn
	tap *tap
}

func (c *tappedConn) Write(b []byte) (int, error) {
	c.tap.hear(b)
	return c.Conn.Write(b)
}

func (c *tappedConn) Read(b []byte) (int, error) {
	count, err := c.Conn.Read(b)
	c.tap.hear(b[:count])
	return count, err
}

type tappedPackets struct {
	net.PacketConn
	tap *tap
}

func (c *tappedPackets) WriteTo(b []byte, to net.Addr) (int, error) {
	c.tap.hear(b)
	c.tap.mu.Lock()
	c.tap.sent = append(c.tap.sent, append([]byte(nil), b...))
	c.tap.mu.Unlock()
	return c.PacketConn.WriteTo(b, to)
}

// useTap lets a node talk through a tap.
func useTap(n *memnet.Network, host string) (*tap, func(*transport.Config)) {
	p := &tap{Host: n.Host(host)}
	return p, func(cfg *transport.Config) { cfg.Network = p }
}
