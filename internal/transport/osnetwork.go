package transport

import (
	"context"
	"fmt"
	"net"
	"net/netip"
)

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
