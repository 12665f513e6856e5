package transport

import (
	"context"
	"net"
	"time"

	"github.com/understudy-go/understudy/remote"

	"github.com/understudy-go/understudy/internal/guard"
)

// A guardedNetwork turns panics in the user's [remote.Network], and in what it opens, into errors.
// They happen in goroutines of the endpoint, and would end the process.
type guardedNetwork struct{ of remote.Network }

// caught must be deferred.
func caught(err *error) {
	if r := recover(); r != nil {
		*err = guard.Recovered(r)
	}
}

func (n guardedNetwork) Listen(addr string) (l net.Listener, err error) {
	defer caught(&err)
	if l, err = n.of.Listen(addr); err != nil {
		return nil, err
	}
	return guardedListener{l}, nil
}

func (n guardedNetwork) Dial(ctx context.Context, addr string) (c net.Conn, err error) {
	defer caught(&err)
	return guardConn(n.of.Dial(ctx, addr))
}

func (n guardedNetwork) ListenPacket(addr string) (p net.PacketConn, err error) {
	defer caught(&err)
	if p, err = n.of.ListenPacket(addr); err != nil {
		return nil, err
	}
	return guardedPacketConn{p}, nil
}

func guardAddr(f func() net.Addr) net.Addr {
	if addr, err := guard.Value(f); err == nil && addr != nil {
		return addr
	}
	return hostport("")
}

type guardedListener struct{ net.Listener }

func (l guardedListener) Accept() (c net.Conn, err error) {
	defer caught(&err)
	return guardConn(l.Listener.Accept())
}

func (l guardedListener) Addr() net.Addr { return guardAddr(l.Listener.Addr) }

func (l guardedListener) Close() (err error) {
	defer caught(&err)
	return l.Listener.Close()
}

type guardedConn struct{ net.Conn }

// One of TCP may be written without blocking, and is not guarded.
func guardConn(c net.Conn, err error) (net.Conn, error) {
	if _, tcp := c.(*net.TCPConn); err != nil || tcp {
		return c, err
	}
	return guardedConn{c}, nil
}

func (c guardedConn) Read(b []byte) (n int, err error) {
	defer caught(&err)
	return c.Conn.Read(b)
}

func (c guardedConn) Write(b []byte) (n int, err error) {
	defer caught(&err)
	return c.Conn.Write(b)
}

func (c guardedConn) Close() (err error) {
	defer caught(&err)
	return c.Conn.Close()
}

func (c guardedConn) LocalAddr() net.Addr { return guardAddr(c.Conn.LocalAddr) }

func (c guardedConn) RemoteAddr() net.Addr { return guardAddr(c.Conn.RemoteAddr) }

func (c guardedConn) SetDeadline(t time.Time) (err error) {
	defer caught(&err)
	return c.Conn.SetDeadline(t)
}

func (c guardedConn) SetReadDeadline(t time.Time) (err error) {
	defer caught(&err)
	return c.Conn.SetReadDeadline(t)
}

func (c guardedConn) SetWriteDeadline(t time.Time) (err error) {
	defer caught(&err)
	return c.Conn.SetWriteDeadline(t)
}

type guardedPacketConn struct{ net.PacketConn }

func (p guardedPacketConn) ReadFrom(b []byte) (n int, from net.Addr, err error) {
	defer caught(&err)
	return p.PacketConn.ReadFrom(b)
}

func (p guardedPacketConn) WriteTo(b []byte, to net.Addr) (n int, err error) {
	defer caught(&err)
	return p.PacketConn.WriteTo(b, to)
}

func (p guardedPacketConn) LocalAddr() net.Addr { return guardAddr(p.PacketConn.LocalAddr) }

func (p guardedPacketConn) Close() (err error) {
	defer caught(&err)
	return p.PacketConn.Close()
}
