package transport

import (
	"context"
	"net"
)

// StreamConns returns the connections that peers opened with DialStream. The receiver must close
// each one. A connection that is not received within [Config.HandshakeTimeout] is closed. The
// channel is never closed.
func (e *Endpoint) StreamConns() <-chan net.Conn { return e.acceptor.streams }

// DialStream opens a connection to the endpoint at addr, whose StreamConns returns the other end.
// It carries arbitrary bytes. The caller must close it. The peer closes it if it refuses it.
func (e *Endpoint) DialStream(ctx context.Context, addr string) (net.Conn, error) {
	conn, err := e.dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	// So little always fits into the buffer of a new connection: this does not block.
	if err := sendHello(conn, channelStream, e.hello()); err != nil {
		discard(conn)
		return nil, err
	}
	return withCloseNotify(conn), nil
}

// Its Close sends TLS's close_notify, as nothing else tells the peer that the stream is complete.
func withCloseNotify(conn net.Conn) net.Conn {
	if secure, ok := conn.(*secureConn); ok {
		return secure.Conn
	}
	return conn
}
