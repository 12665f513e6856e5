package remote

import (
	"context"
	"net"

	"github.com/understudy-go/understudy/remote/internal/wire"
)

// StreamConns returns the connections that peers opened with DialStream. The receiver must close
// each one. A connection that is not received within [Config.HandshakeTimeout] is closed. The
// channel is never closed.
func (e *Endpoint) StreamConns() <-chan net.Conn { return e.streams }

// DialStream opens a connection to the endpoint at addr, whose StreamConns returns the other end.
// It carries arbitrary bytes. The caller must close it. The peer closes it if it refuses it.
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

// receiveStream passes a connection of memberlist's on, if it is from a node: a client does not
// take part in membership.
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

// withCloseNotify returns a connection whose Close sends TLS's close_notify, as nothing else tells
// the peer that the stream is complete.
func withCloseNotify(conn net.Conn) net.Conn {
	if secure, ok := conn.(*secureConn); ok {
		return secure.Conn
	}
	return conn
}
