package transport

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"time"

	"go.uber.org/zap"

	"github.com/understudy-go/understudy/internal/guard"
	"github.com/understudy-go/understudy/remote"
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

// A panic in a function of the user must not end the process: in Admit and AdmitMessages it refuses
// the peer, elsewhere it is logged.
func (c *Config) guardHooks() {
	c.Admit, c.AdmitMessages = guardAdmit(c.Admit), guardAdmit(c.AdmitMessages)
	log, control, failed := c.Logger, c.Control, c.DialFailed
	c.Control = func(from remote.NodeID, data []byte) {
		if err := guard.Do(func() { control(from, data) }); err != nil {
			log.Error("Config.Control has panicked", zap.Stringer("peer", from), zap.Error(err))
		}
	}
	c.DialFailed = func(addr string, why error) {
		if err := guard.Do(func() { failed(addr, why) }); err != nil {
			log.Error("Config.DialFailed has panicked", zap.String("peer", addr), zap.Error(err))
		}
	}
}

func guardAdmit(admit func(remote.NodeID) error) func(remote.NodeID) error {
	return func(p remote.NodeID) error { return guard.Run(func() error { return admit(p) }) }
}

type hostport string

func (h hostport) Network() string { return "host:port" }
func (h hostport) String() string  { return string(h) }

type osNetwork struct{}

func (osNetwork) Listen(addr string) (net.Listener, error) { return net.Listen("tcp", addr) }

func (osNetwork) Dial(ctx context.Context, addr string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", addr)
}

func (osNetwork) ListenPacket(addr string) (net.PacketConn, error) {
	conn, err := net.ListenPacket("udp", addr)
	if err != nil {
		return nil, err
	}
	udp, ok := conn.(*net.UDPConn)
	if !ok {
		discard(conn)
		return nil, fmt.Errorf("remote: a datagram socket of type %T", conn)
	}
	return &udpConn{UDPConn: udp, resolver: newResolver(net.DefaultResolver)}, nil
}

// An udpConn takes host names. A datagram to an unknown name is dropped and starts a look-up.
type udpConn struct {
	*net.UDPConn
	resolver *resolver
}

func (c *udpConn) WriteTo(b []byte, to net.Addr) (int, error) {
	if udp, ok := to.(*net.UDPAddr); ok {
		return c.UDPConn.WriteTo(b, udp)
	}
	addr, err := netip.ParseAddrPort(to.String())
	if err != nil {
		var known bool
		if addr, known = c.resolver.find(to.String()); !known {
			return len(b), nil
		}
	}
	return c.WriteToUDPAddrPort(b, addr)
}

func (c *udpConn) Close() error {
	c.resolver.close()
	return c.UDPConn.Close()
}
