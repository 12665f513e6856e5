package remote

import (
	"context"
	"net"
)

// StreamConns returns the connections that peers opened with DialStream. Who takes one
// has to close it. What nobody takes within the handshake timeout is closed. The channel
// is never closed.
func (e *Endpoint) StreamConns() <-chan net.Conn { return e.streams }

// DialStream opens a connection to the endpoint at addr that carries whatever both sides
// like: it comes out of StreamConns there. The caller has to close it.
func (e *Endpoint) DialStream(ctx context.Context, addr string) (net.Conn, error) {
	conn, err := e.dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	// So little always fits into the buffer of a new connection: this does not block.
	if _, err := conn.Write([]byte{byte(laneStream)}); err != nil {
		discard(conn)
		return nil, err
	}
	return farewell(conn), nil
}

// farewell returns the connection of a stream: one whose Close tells the peer that this was
// all, as nothing else does.
func farewell(conn net.Conn) net.Conn {
	if secure, ok := conn.(*secureConn); ok {
		return secure.Conn
	}
	return conn
}
