package cluster

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"

	"github.com/understudy-go/understudy/remote"
)

// A traffic counts the datagrams, writes and bytes that nodes send.
type traffic struct{ datagrams, writes, bytes atomic.Int64 }

type load struct{ datagrams, writes, bytes float64 }

func (t *traffic) read() load {
	return load{float64(t.datagrams.Load()), float64(t.writes.Load()), float64(t.bytes.Load())}
}

func (l load) since(o load) load {
	return load{l.datagrams - o.datagrams, l.writes - o.writes, l.bytes - o.bytes}
}

func (l load) over(n float64) load { return load{l.datagrams / n, l.writes / n, l.bytes / n} }

func (l load) String() string {
	return fmt.Sprintf("%.1f datagrams, %.1f writes to streams, %.0f bytes", l.datagrams, l.writes, l.bytes)
}

// A countingNetwork counts outgoing traffic.
type countingNetwork struct {
	remote.Network
	traffic *traffic
}

func (c countingNetwork) Listen(addr string) (net.Listener, error) {
	l, err := c.Network.Listen(addr)
	return countingListener{l, c.traffic}, err
}

func (c countingNetwork) Dial(ctx context.Context, addr string) (net.Conn, error) {
	conn, err := c.Network.Dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	return countingConn{conn, c.traffic}, nil
}

func (c countingNetwork) ListenPacket(addr string) (net.PacketConn, error) {
	conn, err := c.Network.ListenPacket(addr)
	return countingPackets{conn, c.traffic}, err
}

type countingListener struct {
	net.Listener
	traffic *traffic
}

func (c countingListener) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return countingConn{conn, c.traffic}, nil
}

type countingConn struct {
	net.Conn
	traffic *traffic
}

func (c countingConn) Write(b []byte) (int, error) {
	c.traffic.writes.Add(1)
	c.traffic.bytes.Add(int64(len(b)))
	return c.Conn.Write(b)
}

type countingPackets struct {
	net.PacketConn
	traffic *traffic
}

func (c countingPackets) WriteTo(b []byte, to net.Addr) (int, error) {
	c.traffic.datagrams.Add(1)
	c.traffic.bytes.Add(int64(len(b)))
	return c.PacketConn.WriteTo(b, to)
}
