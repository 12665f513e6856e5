package remote

import (
	"context"
	"net"

	"github.com/understudy-go/understudy/remote/internal/wire"
)

// StreamConns returns the connections that peers opened with DialStream. Who takes one
// has to close it. What nobody takes within the handshake timeout is closed. The channel
// is never closed.
func (e *Endpoint) StreamConns() <-chan net.Conn { return e.streams }

// DialStream opens a connection to the endpoint at addr that carries whatever both sides
// like: it comes out of StreamConns there. The caller has to close it. When it is not
// welcome there, it is closed.
func (e *Endpoint) DialStream(ctx context.Context, addr string) (net.Conn, error) {
	conn, err := e.dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	// So little always fits into the buffer of a new connection: this does not block.
	h := hello{Version: Version, Cluster: e.cfg.Cluster, Addr: e.addr, Incarnation: e.incarnation.Load()}
	if err := sendHello(conn, channelStream, h); err != nil {
		discard(conn)
		return nil, err
	}
	return withCloseNotify(conn), nil
}

// receiveStream gives a connection of memberlist's to whoever takes them, if it is of a node: a
// client has no say in who is a member.
func (e *Endpoint) receiveStream(x *unauthenticatedConn, conn net.Conn) error {
	body, err := wire.ReadFrame(conn, maxHandshake)
	if err != nil {
		return err
	}
	h, err := parseHello(body)
	if err != nil {
		return err
	}
	if err := e.authenticate(conn, channelStream, h); err != nil {
		return err
	}
	if e.authenticator != nil {
		e.unauthenticated.leave(x)
	}
	return e.handOver(withCloseNotify(conn))
}

// farewell returns the connection of a stream: one whose Close tells the peer that this was
// all, as nothing else does.
func withCloseNotify(conn net.Conn) net.Conn {
	if secure, ok := conn.(*secureConn); ok {
		return secure.Conn
	}
	return conn
}
