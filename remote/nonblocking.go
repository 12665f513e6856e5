package remote

import (
	"net"
	"sync"
	"sync/atomic"
)

// A promptConn is a connection that can be written to without waiting: what the operating
// system does not take at once it keeps, until somebody who may wait writes that. So it lies
// below TLS, which could not go on after half a write. Whoever writes to it takes care that
// writes are in order.
type nonBlockingConn struct {
	net.Conn
	try          nonBlockingWriter
	mustNotBlock atomic.Bool // writes must not wait

	mu   sync.Mutex // guards all below, and lets one write go after the other
	rest []byte     // was written, and is not sent
	err  error      // that nobody has been told
}

// A trier writes what a connection takes without waiting, which may be nothing. Nobody else
// writes meanwhile.
type nonBlockingWriter interface {
	tryWrite(b []byte) (sent int, err error)
}

// prompt returns conn as one that can be written to without waiting, if it is of a kind that can:
// a socket, or a trier itself.
func nonBlocking(conn net.Conn) net.Conn {
	try, ok := conn.(nonBlockingWriter)
	if !ok {
		try = newSocketWriter(conn)
	}
	if try == nil {
		return conn
	}
	return &nonBlockingConn{Conn: conn, try: try}
}

// promptly returns what is prompt in a connection, or nil.
func asNonBlocking(conn net.Conn) *nonBlockingConn {
	if secure, ok := conn.(*secureConn); ok {
		conn = secure.raw
	}
	p, _ := conn.(*nonBlockingConn)
	return p
}

// hurry has write, which writes to the connection or to what lies above, not wait. It returns
// whether something is left for flush.
func (c *nonBlockingConn) withoutBlocking(write func()) (left bool) {
	c.mustNotBlock.Store(true)
	write()
	c.mustNotBlock.Store(false)
	return c.hasPending()
}

// hasRest tells whether there is something for flush: bytes, or an error.
func (c *nonBlockingConn) hasPending() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.rest) > 0 || c.err != nil
}

// Write implements [net.Conn]. In a hurry it never fails: flush will.
func (c *nonBlockingConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mustNotBlock.Load() {
		c.writeNow(b)
		return len(b), nil
	}
	if err := c.writePending(); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

// writeNow sends what goes without waiting, and keeps the rest.
func (c *nonBlockingConn) writeNow(b []byte) {
	sent := 0
	if len(c.rest) == 0 && c.err == nil {
		sent, c.err = c.try.tryWrite(b)
	}
	c.rest = append(c.rest, b[sent:]...)
}

// flush writes what is left. It waits, up to the deadline for writes.
func (c *nonBlockingConn) flush() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.writePending()
}

func (c *nonBlockingConn) writePending() error {
	if c.err != nil {
		return c.err
	}
	if len(c.rest) == 0 {
		return nil
	}
	_, err := c.Conn.Write(c.rest)
	c.rest, c.err = nil, err
	return err
}
